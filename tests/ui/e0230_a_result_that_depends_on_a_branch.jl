@tessella function last_or_first(x::Vector{Float64}, back::Bool)
    for i in eachindex(x)
        x[i] = 2x[i]
    end
    if back
        x[1]
    end
end
