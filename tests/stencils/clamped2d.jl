# Heat that does not leave a plate: at an edge a point stands for its missing neighbour, which each point asks for.
#! with hexagonal((S, R), t, (j, i), 1, (3, 8))
#! with time_skew((S, R), t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 3, 4)
#! gpu grid_sync(S, t, 2, 2, 4)
#! gpu hexagonal(S, t, 2, 5, 2, 32)
#! run m=1 n=1 steps=3
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! own m=9 n=203 steps=37
@tessella function clamped2d!(A::Matrix{Float32}, B::Matrix{Float32}, source::Matrix{Float32}, a::Float32, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            here = A[i, j]
            up = i > 1 ? A[i-1, j] : here
            down = m <= i ? here : A[i+1, j]
            left = j == 1 ? here : A[i, j-1]
            right = j != n ? A[i, j+1] : here
            @comp S B[i, j] = here + a * (up + down + left + right - 4f0 * here + source[i, j])
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
end
