# Heat in a plane with cold walls, which stand in a branch of the nest: parts of a tile's rows have one column.
#! with hexagonal(S, t, (j, i), 1, (3, 5))
#! with time_skew(S, t, (j, i), 1, (5, 6))
#! gpu hexagonal(S, t, (j, i), 1, (3, 5))
#! gpu time_skew(S, t, (j, i), 1, (5, 6))
#! run m=1 n=1 steps=3
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=13 n=17 steps=6
@tessella function walled2d!(u::Matrix{Float64}, v::Matrix{Float64}, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 1:n, i in 1:m
            if i == 1 || i == m || j == 1 || j == n
                @comp W v[i, j] = 0.0
            else
                @comp S v[i, j] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])
            end
        end
        u, v = v, u
    end
end
