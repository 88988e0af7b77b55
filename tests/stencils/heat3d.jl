# PolyBench's heat-3d: back and forth between two arrays.
#! with hexagonal((S, R), t, (k, j, i), 1, (2, 4))
#! with time_skew((S, R), t, (k, j, i), 2, (4, 4))
#! gpu space((S, R), t, (k, j, i), (8, 8, 32))
#! run l=9 m=8 n=11 steps=5
#! own l=7 m=6 n=61 steps=11
@tessella function heat3d!(A::Array{Float64,3}, B::Array{Float64,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp S B[i, j, k] = 0.125 * (A[i+1, j, k] - 2.0 * A[i, j, k] + A[i-1, j, k]) +
                                 0.125 * (A[i, j+1, k] - 2.0 * A[i, j, k] + A[i, j-1, k]) +
                                 0.125 * (A[i, j, k+1] - 2.0 * A[i, j, k] + A[i, j, k-1]) + A[i, j, k]
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp R A[i, j, k] = 0.125 * (B[i+1, j, k] - 2.0 * B[i, j, k] + B[i-1, j, k]) +
                                 0.125 * (B[i, j+1, k] - 2.0 * B[i, j, k] + B[i, j-1, k]) +
                                 0.125 * (B[i, j, k+1] - 2.0 * B[i, j, k] + B[i, j, k-1]) + B[i, j, k]
        end
    end
end
