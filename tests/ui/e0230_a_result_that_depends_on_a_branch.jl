function first_if(x, back)
    if back
        x[1]
    end
end

@tessella function scaled!(x::Vector{Float64}, back::Bool)
    factor = first_if(x, back)
    for i in eachindex(x)
        x[i] = factor * x[i]
    end
end
