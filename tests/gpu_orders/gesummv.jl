# Sums along the rows of two matrices, whose tiles pass through shared memory.
#! sizes A=n,n B=n,n tmp=n x=n y=n α=3
#! run n=0
#! run n=1
#! run n=31
#! run n=65
#! run n=97
#! run n=200
using Tessella

@tessella function gesummv!(y::Vector{Float32}, tmp::Vector{Float32}, A::Matrix{Float32}, B::Matrix{Float32}, x::Vector{Float32}, α::Float32)
    n = size(A, 1)
    for i in 1:n
        tmp[i] = 0
        y[i] = 0
        for j in 1:n
            tmp[i] += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        end
        y[i] = α * tmp[i] + y[i]
    end
end
