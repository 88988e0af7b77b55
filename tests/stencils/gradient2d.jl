# Gradients: a square root and a division for each point.
#! with hexagonal((S, R), t, (j, i), 3, (2, 8))
#! with time_skew((S, R), t, (j, i), 2, (6, 6))
#! gpu hexagonal((S, R), t, (j, i), 1, (2, 8))
#! gpu hexagonal(S, t, 1, 2, 2, 64, 1)
#! run m=7 n=5 steps=2
#! run m=17 n=21 steps=8
@tessella function gradient2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i, j] + 1f0 / sqrt(0.0001f0 +
                              (A[i, j] - A[i-1, j]) * (A[i, j] - A[i-1, j]) +
                              (A[i, j] - A[i+1, j]) * (A[i, j] - A[i+1, j]) +
                              (A[i, j] - A[i, j-1]) * (A[i, j] - A[i, j-1]) +
                              (A[i, j] - A[i, j+1]) * (A[i, j] - A[i, j+1]))
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
