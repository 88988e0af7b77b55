# A star of radius 3 in space: diffusion by differences of order six.
#! with hexagonal((S, R), t, (k, j, i), 1, (3, 2))
#! with time_skew((S, R), t, (k, j, i), 1, (5, 5, 8))
#! gpu space((S, R), t, (k, j, i), (2, 4, 8))
#! gpu grid_sync((S, R), t, (k, j, i), (2, 4, 8))
#! gpu overlapped(S, t, (k, j, i), 1, (4, 4, 8))
#! gpu time_skew((S, R), t, (k, j, i), 1, (5, 5, 8))
#! gpu hexagonal((S, R), t, (k, j, i), 1, (3, 2))
#! gpu stream(S, t, 1, 4, 0, 4)
#! gpu stream(S, t, 2, 4, 5, 4, 4)
#! gpu stream(S, t, 1, 2, 0, 4)
#! refused E0490 stream(S, t, 1, 2, 0, 4)
#! run l=7 m=7 n=8 steps=2
#! run l=11 m=12 n=15 steps=3
@tessella function star3d3r!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 4:n-3, j in 4:m-3, i in 4:l-3
            @comp S B[i, j, k] = A[i, j, k] + 0.05f0 * (
                                 1.5f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1]) -
                                 0.15f0 * (A[i-2, j, k] + A[i+2, j, k] + A[i, j-2, k] + A[i, j+2, k] + A[i, j, k-2] + A[i, j, k+2]) +
                                 0.0111f0 * (A[i-3, j, k] + A[i+3, j, k] + A[i, j-3, k] + A[i, j+3, k] + A[i, j, k-3] + A[i, j, k+3]) - 8.1667f0 * A[i, j, k])
        end
        for k in 4:n-3, j in 4:m-3, i in 4:l-3
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
