# A 7-point star and a copy back.
#! with hexagonal((S, R), t, (k, j, i), 3, (2, 4))
#! with time_skew((S, R), t, (k, j, i), 1, (3, 3, 4))
#! gpu space(S, t, (k, j, i), (2, 4, 8))
#! gpu grid_sync(S, t, (k, j, i), (2, 4, 8))
#! gpu hexagonal((S, R), t, (k, j, i), 1, (2, 4))
#! run l=7 m=10 n=9 steps=4
@tessella function laplacian3d!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.75f0 * A[i, j, k] + 0.04f0 * (A[i-1, j, k] + A[i+1, j, k] +
                                 A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
