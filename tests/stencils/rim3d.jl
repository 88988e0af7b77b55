# The same in space, where the rim is the other branch and holds a number for each step.
#! with time_skew(S, t, (k, j, i), 1, (4, 4, 8))
#! with overlapped(S, t, (k, j, i), 2, (4, 4, 8))
#! gpu stream(S, t, 2, 2, 16)
#! run m=4 n=5 l=3 edge_1=1
#! run m=2 n=1 l=3 edge_1=3
#! run m=2 n=0 l=3 edge_1=3
#! run m=9 n=7 l=8 edge_1=4
#! own m=9 n=33 l=17 edge_1=7
@tessella function rim3d!(T::Array{Float64,3}, N::Array{Float64,3}, edge::Vector{Float64}, a::Float64)
    m, n, l = size(T)
    for t in 1:length(edge)
        for k in 1:l, j in 1:n, i in 1:m
            if 1 < i < m && 1 < j < n && 1 < k < l
                @comp S N[i, j, k] = T[i, j, k] + a * (T[i-1, j, k] + T[i+1, j, k] + T[i, j-1, k] + T[i, j+1, k] + T[i, j, k-1] + T[i, j, k+1] - 6 * T[i, j, k])
            else
                @comp B N[i, j, k] = edge[t]
            end
        end
        for k in 1:l, j in 1:n, i in 1:m
            @comp C T[i, j, k] = N[i, j, k]
        end
    end
end
