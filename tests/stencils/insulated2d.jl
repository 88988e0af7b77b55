# Heat in an insulated plate: edges are copied in place, two of them in one loop. They meet where a side has two points.
#! with space(S, t, (j, i), (8, 8))
#! with hexagonal(S, t, (j, i), 3, (8, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! gpu time_skew(S, t, (j, i), 2, (8, 8))
#! gpu space(S, t, (j, i), (8, 8))
#! gpu space(S, t, (j, i), (48, 64))
#! gpu hexagonal(S, t, (j, i), 3, (8, 8))
#! gpu grid_sync(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2)
#! run m=2 n=2 steps=3
#! run m=2 n=5 steps=2
#! run m=6 n=2 steps=2
#! run m=3 n=3 steps=5
#! run m=19 n=23 steps=8
#! own m=21 n=203 steps=13
@tessella function insulated2d!(A::Matrix{Float32}, B::Matrix{Float32}, a::Float32, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i, j] + a * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] - 4f0 * A[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
        for j in 1:n
            @comp W A[1, j] = A[2, j]
            @comp E A[m, j] = A[m-1, j]
        end
        for i in 1:m
            @comp N A[i, 1] = A[i, 2]
            @comp Z A[i, n] = A[i, n-1]
        end
    end
end
