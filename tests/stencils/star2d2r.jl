# A star of radius 2.
#! with hexagonal((S, R), t, (j, i), 1, (3, 8))
#! with hexagonal((S, R), t, (j, i), 3, 2)
#! with time_skew((S, R), t, (j, i), 2, (9, 9))
#! gpu hexagonal((S, R), t, (j, i), 1, (3, 8))
#! gpu hexagonal(S, t, 1, 3, 4, 32, 1)
#! run m=6 n=5 steps=2
#! run m=18 n=23 steps=6
#! run m=18 n=33 steps=11
#! own m=9 n=301 steps=37
@tessella function star2d2r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 3:n-2, i in 3:m-2
            @comp S B[i, j] = 0.5f0 * A[i, j] + 0.1f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) +
                              0.025f0 * (A[i-2, j] + A[i+2, j] + A[i, j-2] + A[i, j+2])
        end
        for j in 3:n-2, i in 3:m-2
            @comp R A[i, j] = B[i, j]
        end
    end
end
