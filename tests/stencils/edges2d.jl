# Heat in a plate that is insulated along three edges and heated along the fourth: edges have nests of their own, arrays change places.
#! with time_skew((S, W), t, (j, i), 1, (8, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! with overlapped(W, t, (j, i), 2, (8, 8))
#! gpu overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu time_skew((S, W), t, (j, i), 1, (8, 8))
#! gpu stream(S, t, 3, 4)
#! gpu grid_sync(S, t, 1, 2, 3)
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=3 n=2 steps=4
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function edges2d!(T::Matrix{Float32}, N::Matrix{Float32}, edge::Vector{Float32}, a::Float32)
    m, n = size(T)
    steps = length(edge)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S N[i, j] = T[i, j] + a * (T[i-1, j] + T[i+1, j] + T[i, j-1] + T[i, j+1] - 4f0 * T[i, j])
        end
        for j in 2:n-1
            @comp W N[1, j] = N[2, j]
        end
        for j in 2:n-1
            @comp E N[m, j] = edge[t]
        end
        for i in 1:m
            @comp L N[i, 1] = N[i, 2]
            @comp R N[i, n] = N[i, n-1]
        end
        T, N = N, T
    end
end
