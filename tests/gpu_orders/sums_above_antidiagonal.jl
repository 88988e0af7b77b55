# Sums of those results above the other diagonal: tests of a tile at the edge go, and what is divided inside of them may be negative then.
#! sizes C=m,n A=m,p B=p,n
#! run m=5 n=7 p=3
#! run m=70 n=33 p=17
#! run m=130 n=140 p=9
#! run m=100 n=64 p=9
using Tessella

@tessella function sums_above_antidiagonal!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(C)
    p = size(A, 2)
    for j in 1:n, i in 1:m
        C[i, j] *= 0.5
        for k in 1:p
            if i + j <= n
                C[i, j] += A[i, k] * B[k, j]
            end
        end
    end
end
