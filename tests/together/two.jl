# Two functions of one file, whose helpers have the same names.
using Tessella

@tessella function doubled!(B::Vector{Float64}, A::Vector{Float64})
    for i in eachindex(A)
        B[i] = 2A[i]
    end
end

@tessella function smoothed!(B::Vector{Float32}, A::Vector{Float32}, weights::Vector{Float32})
    @assert size(weights) == (3,)
    for i in 2:length(A)-1
        B[i] = weights[1] * A[i-1] + weights[2] * A[i] + weights[3] * A[i+1]
    end
end
