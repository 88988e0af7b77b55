# Two levels of time in one array, whose rim keeps its value in a branch of the same nest.
#! with time_skew(S, t, (j, i), 1, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu grid_sync(S, t, 1, 4, 12)
#! run m=4 n=5 u_3=2 steps=1
#! run m=2 n=3 u_3=2 steps=3
#! run m=1 n=2 u_3=2 steps=3
#! run m=0 n=2 u_3=2 steps=3
#! run m=19 n=23 u_3=2 steps=8
#! own m=9 n=203 u_3=2 steps=13
@tessella function rim_levels2d!(u::Array{Float32,3}, a::Float32, steps::Int)
    m, n = size(u, 1), size(u, 2)
    @assert size(u, 3) == 2
    for t in 1:steps
        for j in 1:n, i in 1:m
            if i == 1 || i == m || j == 1 || j == n
                @comp B u[i, j, t%2+1] = u[i, j, (t-1)%2+1]
            else
                @comp S u[i, j, t%2+1] = u[i, j, (t-1)%2+1] +
                    a * (u[i-1, j, (t-1)%2+1] + u[i+1, j, (t-1)%2+1] + u[i, j-1, (t-1)%2+1] + u[i, j+1, (t-1)%2+1] - 4f0 * u[i, j, (t-1)%2+1])
            end
        end
    end
end
