# Backwards through time, every second step, with what was recorded forwards.
#! with hexagonal(S, t, (j, i), 1, (2, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu hexagonal(S, t, 1, 2, 2, 32, 1)
#! gpu grid_sync(S, t, 2, 2, 12, 4)
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function adjoint2d!(A::Matrix{Float64}, B::Matrix{Float64}, f::Vector{Float64}, steps::Int)
    m, n = size(A)
    for t in steps:-2:1
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) + f[t]
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j] + 0.1 * t
        end
    end
end
