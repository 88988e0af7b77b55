# A star of radius 4: diffusion by differences of order eight.
#! with hexagonal((S, R), t, (j, i), 1, (4, 8))
#! with hexagonal((S, R), t, (j, i), 3, 5)
#! with time_skew((S, R), t, (j, i), 2, (9, 9))
#! gpu space((S, R), t, (j, i), (4, 8))
#! gpu grid_sync((S, R), t, (j, i), (4, 8))
#! gpu overlapped(S, t, (j, i), 1, (8, 8))
#! gpu time_skew((S, R), t, (j, i), 2, (9, 9))
#! gpu hexagonal((S, R), t, (j, i), 1, (4, 8))
#! gpu hexagonal(S, t, 1, 3, 8, 32, 1)
#! refused E0490 hexagonal(S, t, 1, 3, 8, 32, 1)
#! gpu stream(S, t, 1, 4)
#! gpu stream(S, t, 2, 4, 16)
#! gpu stream(S, t, 4, 4, 9)
#! run m=9 n=9 steps=2
#! run m=139 n=23 steps=5
@tessella function star2d4r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 5:n-4, i in 5:m-4
            @comp S B[i, j] = A[i, j] + 0.1f0 * (
                              1.6f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) -
                              0.2f0 * (A[i-2, j] + A[i+2, j] + A[i, j-2] + A[i, j+2]) +
                              0.0254f0 * (A[i-3, j] + A[i+3, j] + A[i, j-3] + A[i, j+3]) -
                              0.0018f0 * (A[i-4, j] + A[i+4, j] + A[i, j-4] + A[i, j+4]) - 5.6944f0 * A[i, j])
        end
        for j in 5:n-4, i in 5:m-4
            @comp R A[i, j] = B[i, j]
        end
    end
end
