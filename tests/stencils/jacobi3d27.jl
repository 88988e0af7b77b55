# A box of 27 points.
#! with time_skew((S, R), t, (k, j, i), 2, (6, 6))
#! with hexagonal((S, R), t, (k, j, i), 1, 2)
#! gpu time_skew((S, R), t, (k, j, i), 2, (6, 6))
#! gpu time_skew((S, R), t, (k, j, i), 2, (4, 4, 8))
#! no gpu hexagonal
#! run n=9 steps=3
@tessella function jacobi3d27!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    n = size(A, 1)
    for t in 1:steps
        for k in 2:n-1, j in 2:n-1, i in 2:n-1
            @comp S B[i, j, k] = (A[i-1, j-1, k-1] + A[i, j-1, k-1] + A[i+1, j-1, k-1] + A[i-1, j, k-1] + A[i, j, k-1] +
                                  A[i+1, j, k-1] + A[i-1, j+1, k-1] + A[i, j+1, k-1] + A[i+1, j+1, k-1] +
                                  A[i-1, j-1, k] + A[i, j-1, k] + A[i+1, j-1, k] + A[i-1, j, k] + A[i, j, k] +
                                  A[i+1, j, k] + A[i-1, j+1, k] + A[i, j+1, k] + A[i+1, j+1, k] +
                                  A[i-1, j-1, k+1] + A[i, j-1, k+1] + A[i+1, j-1, k+1] + A[i-1, j, k+1] + A[i, j, k+1] +
                                  A[i+1, j, k+1] + A[i-1, j+1, k+1] + A[i, j+1, k+1] + A[i+1, j+1, k+1]) / 27f0
        end
        for k in 2:n-1, j in 2:n-1, i in 2:n-1
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
