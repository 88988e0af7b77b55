# Sums up to the diagonal in tiles: threads at an edge compute past it, and ask along the diagonal alone.
#! sizes C=m,n A=m,m B=m,n
#! run m=1 n=1
#! run m=130 n=3
#! run m=150 n=70
using Tessella

@tessella function triangular_product!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(C)
    for j in 1:n, i in 1:m
        total = 0.0f0
        for k in 1:i-1
            total += B[k, j] * A[i, k]
        end
        C[i, j] = total
    end
end
