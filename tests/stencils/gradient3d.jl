# Gradients in space.
#! with hexagonal((S, R), t, (k, j, i), 1, (2, 4))
#! gpu time_skew(S, t, (k, j, i), 2, (4, 4, 8))
#! run l=6 m=7 n=8 steps=3
@tessella function gradient3d!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = A[i, j, k] + 1f0 / sqrt(0.0001f0 +
                                 (A[i, j, k] - A[i-1, j, k]) * (A[i, j, k] - A[i-1, j, k]) +
                                 (A[i, j, k] - A[i+1, j, k]) * (A[i, j, k] - A[i+1, j, k]) +
                                 (A[i, j, k] - A[i, j-1, k]) * (A[i, j, k] - A[i, j-1, k]) +
                                 (A[i, j, k] - A[i, j+1, k]) * (A[i, j, k] - A[i, j+1, k]) +
                                 (A[i, j, k] - A[i, j, k-1]) * (A[i, j, k] - A[i, j, k-1]) +
                                 (A[i, j, k] - A[i, j, k+1]) * (A[i, j, k] - A[i, j, k+1]))
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
