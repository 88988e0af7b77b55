# Heat in a plate whose rim cools, in one nest with a branch; arrays change places.
#! with time_skew(S, t, (j, i), 1, (8, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 3, 4)
#! gpu grid_sync(S, t, 1, 2, 3)
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=1 n=1 steps=2
#! run m=0 n=3 steps=2
#! run m=3 n=0 steps=2
#! run m=3 n=1 steps=4
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function rim2d!(T::Matrix{Float32}, N::Matrix{Float32}, a::Float32, steps::Int)
    m, n = size(T)
    for t in 1:steps
        for j in 1:n, i in 1:m
            if i == 1 || i == m || j == 1 || j == n
                @comp B N[i, j] = 0.75f0 * T[i, j]
            else
                @comp S N[i, j] = T[i, j] + a * (T[i-1, j] + T[i+1, j] + T[i, j-1] + T[i, j+1] - 4f0 * T[i, j])
            end
        end
        T, N = N, T
    end
end
