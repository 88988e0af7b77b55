# Sound in a plane on staggered grids, in place, with a density of its own in each cell and a source that hums in the middle.
#! with space((X, P), t, (j, i), (8, 8))
#! with time_skew(X, t, (j, i), 2, (8, 8))
#! with overlapped(X, t, (j, i), 2, (8, 8))
#! gpu overlapped(X, t, (j, i), 2, (8, 8))
#! gpu stream(X, t, 2, 2, 16)
#! gpu stream(X, t, 5, 4)
#! gpu grid_sync(X, t, 2, 2, 4)
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=3 n=2 steps=4
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function acoustic2d!(p::Matrix{Float32}, vx::Matrix{Float32}, vy::Matrix{Float32}, c::Matrix{Float32}, hum::Vector{Float32})
    m, n = size(p)
    steps = length(hum)
    for t in 1:steps
        for j in 1:n, i in 1:m-1
            @comp X vx[i, j] -= 0.5f0 * (p[i+1, j] - p[i, j])
        end
        for j in 1:n-1, i in 1:m
            vy[i, j] -= 0.5f0 * (p[i, j+1] - p[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp P p[i, j] -= c[i, j] * (vx[i, j] - vx[i-1, j] + vy[i, j] - vy[i, j-1])
        end
        p[m ÷ 2, n ÷ 2] += hum[t]
    end
end
