@tessella @simd function doubled!(y::Vector{Float64})
    for i in eachindex(y)
        y[i] = 2y[i]
    end
end
