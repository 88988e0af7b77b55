# Time that goes down and is no more than counted.
#! with hexagonal(S, t, (j, i), 1, (2, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! own m=9 n=203 steps=37
@tessella function countdown2d!(A::Matrix{Float64}, B::Matrix{Float64}, steps::Int)
    m, n = size(A)
    for t in steps:-1:1
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end
