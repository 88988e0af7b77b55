# Two arrays that change places after each step: two sweeps an iteration, the second of which an odd last step lacks.
#! with hexagonal(S, t, (j, i), 1, (2, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 3, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu hexagonal(S, t, 1, 2, 2, 32, 1)
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function swapped2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        A, B = B, A
    end
end
