# Three points; a tile of one dimension of space.
#! with hexagonal((S, R), t, i, 1, 1)
#! with hexagonal((S, R), t, i, 7, 5)
#! with time_skew((S, R), t, i, 3, 6)
#! with space((S, R), t, i, 16)
#! gpu grid_sync((S, R), t, i, 16)
#! run n=0 steps=2
#! run n=3 steps=1
#! gpu overlapped(S, t, i, 3, 8)
#! gpu overlapped(S, t, i, 4, 32)
#! gpu hexagonal((S, R), t, i, 7, 5)
#! gpu hexagonal((S, R), t, i, 1, 1100)
#! gpu space((S, R), t, i, 1500)
#! run n=9 steps=2
#! run n=2100 steps=3
#! run n=33 steps=9
#! run n=37 steps=19
#! own n=1101 steps=161
@tessella function jacobi1d!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3
        end
        for i in 2:n-1
            @comp R A[i] = (B[i-1] + B[i] + B[i+1]) / 3
        end
    end
end
