# Heat around obstacles, which keep what they hold in both arrays.
#! with hexagonal(S0, t, (j, i), 3, (5, 8))
#! with time_skew(S0, t, (j, i), 2, (8, 8))
#! with overlapped(S0, t, (j, i), 3, (8, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 4, 2)
#! gpu grid_sync(S0, t, 2)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=3 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function obstacles2d!(u::Matrix{Float32}, v::Matrix{Float32}, solid::Matrix{Bool}, c::Float32, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            if !solid[i, j]
                v[i, j] = u[i, j] + c * (u[i+1, j] + u[i-1, j] + u[i, j+1] + u[i, j-1] - 4u[i, j])
            end
        end
        u, v = v, u
    end
    return u
end
