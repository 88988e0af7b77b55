function bump!(x, i)
    x[i] += 1
    return x[i]
end

@tessella function count!(y::Vector{Float64}, x::Vector{Float64})
    for i in eachindex(x)
        y[i] = 2 * y[i] + bump!(x, i)
    end
end
