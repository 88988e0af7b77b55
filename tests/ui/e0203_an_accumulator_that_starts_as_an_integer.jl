@tessella function mean(x::Vector{Float32})
    total = 0
    for i in eachindex(x)
        total += x[i]
    end
    return total / length(x)
end
