# Sweeps until nothing changes any more: data end the loop around the nests, which stay apart and in parallel.
using Tessella

@tessella function sweeps!(u::Matrix{Float64}, v::Matrix{Float64}, most::Int)
    m, n = size(u)
    @assert size(v) == (m, n)
    for t in 1:most
        for j in 2:n-1, i in 2:m-1
            v[i, j] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])
        end
        change = 0.0
        for j in 2:n-1, i in 2:m-1
            change = max(change, abs(v[i, j] - u[i, j]))
            u[i, j] = v[i, j]
        end
        change < 1e-6 && break
    end
end
