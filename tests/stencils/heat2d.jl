# Heat in a plate: two arrays and a copy back.
#! with hexagonal((S, R), t, (j, i), 1, 3)
#! with hexagonal((S, R), t, (j, i), 3, (4, 8))
#! with time_skew((S, R), t, (j, i), 2, (5, 8))
#! with time_skew((S, R), t, (j, i), 1, 4)
#! with space((S, R), t, (j, i), (4, 8))
#! gpu overlapped(S, t, (j, i), 3, (8, 8))
#! gpu grid_sync((S, R), t, (j, i), (4, 8))
#! gpu hexagonal((S, R), t, (j, i), 3, (4, 8))
#! gpu hexagonal((S, R), t, (j, i), 3, (4, 8)); cache_shared(A, S, i0); cache_shared(B, S, i0); cache_shared(A, S_phase1, i0); cache_shared(B, S_phase1, i0)
#! gpu hexagonal((S, R), t, (j, i), 3, (4, 8)); cache_shared(A, S, i0)
#! gpu hexagonal((S, R), t, (j, i), 3, (4, 8)); cache_shared(A, S_phase1, i0); cache_shared(B, S, i0)
#! gpu hexagonal((S, R), t, (j, i), 1, 3)
#! gpu hexagonal((S, R), t, (j, i), 3, (28, 40))
#! gpu time_skew((S, R), t, (j, i), 2, (5, 8))
#! gpu time_skew((S, R), t, (j, i), 2, (40, 48))
#! gpu space((S, R), t, (j, i), (4, 8))
#! gpu space((S, R), t, (j, i), (48, 40))
#! gpu grid_sync((S, R), t, (j, i), (96, 16))
#! gpu hexagonal(S, t, 2, 3, 2, 32, 1)
#! run m=0 n=0 steps=1
#! run m=3 n=3 steps=1
#! run m=13 n=17 steps=0
#! run m=31 n=29 steps=11
#! own m=9 n=203 steps=37
@tessella function heat2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.125f0 * (A[i-1, j] - 2f0 * A[i, j] + A[i+1, j]) +
                              0.125f0 * (A[i, j-1] - 2f0 * A[i, j] + A[i, j+1]) + A[i, j]
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
