# Fields in place around metal, where the electric field stays what it is.
#! with hexagonal(S0, t, (j, i), 3, (5, 8))
#! with time_skew(S0, t, (j, i), 2, (8, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 4, 2)
#! gpu grid_sync(S0, t, 2)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=3 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function metal2d!(Ez::Matrix{Float64}, Hx::Matrix{Float64}, Hy::Matrix{Float64}, metal::Matrix{Bool}, c::Float64, steps::Int)
    m, n = size(Ez)
    for t in 1:steps
        for j in 1:n-1, i in 1:m
            Hx[i, j] -= c * (Ez[i, j+1] - Ez[i, j])
        end
        for j in 1:n, i in 1:m-1
            Hy[i, j] += c * (Ez[i+1, j] - Ez[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            metal[i, j] && continue
            Ez[i, j] += c * ((Hy[i, j] - Hy[i-1, j]) - (Hx[i, j] - Hx[i, j-1]))
        end
    end
end
