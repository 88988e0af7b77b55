# Conway's Game of Life on integers.
#! with hexagonal((S, R), t, (j, i), 1, (2, 8))
#! with hexagonal((S, R), t, (j, i), 3, (2, 4))
#! with time_skew((S, R), t, (j, i), 2, (8, 8))
#! gpu hexagonal((S, R), t, (j, i), 1, (2, 8))
#! gpu hexagonal(S, t, 1, 2, 2, 64, 2)
#! run m=5 n=6 steps=4
#! run m=16 n=19 steps=7
#! own m=9 n=203 steps=37
@tessella function life!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            alive = A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i+1, j] + A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]
            @comp S B[i, j] = ifelse(alive == 3, Int32(1), ifelse(alive == 2, A[i, j], Int32(0)))
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
