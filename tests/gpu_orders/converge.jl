# Sweeps until nothing changes much: the largest change is found in parts, in loops of its own, in each iteration.
#! sizes u=m,n v=m,n tol=1 most=5
#! run m=3 n=3
#! run m=19 n=7
#! run m=67 n=41
using Tessella

@tessella function converge!(u::Matrix{Float64}, v::Matrix{Float64}, tol::Float64, most::Int)
    m, n = size(u)
    change = Inf
    it = 0
    while change > tol && it < most
        change = 0.0
        for j in 2:n-1, i in 2:m-1
            v[i, j] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            change = max(change, abs(v[i, j] - u[i, j]))
            u[i, j] = v[i, j]
        end
        it += 1
    end
    return change
end
