# Time that goes down and is read: traces that receivers recorded, played back from the last one on, and a picture of every step.
#! with space((S, R), t, (j, i), (8, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! with overlapped(S, t, (j, i), 3, (8, 8))
#! with overlapped(S, t, (j, i), 2, (6, 16))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=103 steps=17
@tessella function rewind2d!(A::Matrix{Float64}, B::Matrix{Float64}, traces::Matrix{Float64}, movie::Array{Float64,3}, steps::Int)
    m, n = size(A)
    for t in steps:-1:1
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j] + traces[i, t]
        end
        for j in 1:n, i in 1:m
            @comp M movie[i, j, t] = A[i, j]
        end
    end
end
