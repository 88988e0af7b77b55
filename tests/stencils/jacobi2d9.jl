# A box of nine points.
#! with hexagonal((S, R), t, (j, i), 3, (4, 8))
#! with time_skew((S, R), t, (j, i), 2, (8, 8))
#! gpu hexagonal((S, R), t, (j, i), 1, (2, 8))
#! gpu hexagonal(S, t, 1, 1, 2, 32, 1)
#! run m=5 n=4 steps=3
#! run m=14 n=22 steps=6
#! run m=41 n=22 steps=12
@tessella function jacobi2d9!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = (A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] +
                               A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]) / 9f0
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
