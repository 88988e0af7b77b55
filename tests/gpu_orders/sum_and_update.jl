# A sum in a variable beside an update of other elements by the same operands: two products, and what the sum becomes belongs to its kernel.
#! sizes C=m,n A=m,m B=m,n α=9 β=6
#! run m=0 n=3
#! run m=1 n=1
#! run m=19 n=7
#! run m=131 n=66
using Tessella

@tessella function sum_and_update!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64}, α::Float64, β::Float64)
    m, n = size(C)
    for j in 1:n, i in 1:m
        total = 0.0
        for k in 1:i-1
            C[k, j] += α * B[i, j] * A[i, k]
            total += B[k, j] * A[i, k]
        end
        C[i, j] = β * C[i, j] + α * B[i, j] * A[i, i] + α * total
    end
end
