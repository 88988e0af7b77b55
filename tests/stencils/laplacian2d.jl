# A 5-point star, back and forth between two arrays.
#! with hexagonal((S, R), t, (j, i), 1, (2, 4))
#! with hexagonal(S, t, (j, i), 5, (3, 8))
#! with time_skew(S, t, (j, i), 3, (4, 8))
#! gpu hexagonal((S, R), t, (j, i), 1, (2, 4))
#! gpu hexagonal(S, t, 1, 2, 4, 64, 1)
#! run m=2 n=5 steps=3
#! run m=19 n=23 steps=1
#! run m=19 n=23 steps=9
@tessella function laplacian2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = 0.2f0 * (B[i, j] + B[i-1, j] + B[i+1, j] + B[i, j-1] + B[i, j+1])
        end
    end
end
