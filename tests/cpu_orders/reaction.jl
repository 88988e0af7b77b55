# Both species need the rate of a point, in nests of their own: it is kept for one step, not for all of them.
using Tessella

@tessella function reaction!(u::Matrix{Float64}, v::Matrix{Float64}, du::Matrix{Float64}, dv::Matrix{Float64}, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 1:n, i in 1:m
            rate = u[i, j] * v[i, j]^2
            du[i, j] = 0.04 * (1 - u[mod1(i + 1, m), j]) - rate
            dv[i, j] = rate - 0.1 * v[i, mod1(j - 1, n)]
        end
        for j in 1:n, i in 1:m
            u[i, j] += du[i, j]
        end
        for j in 1:n, i in 1:m
            v[i, j] += dv[i, j]
        end
    end
end
