# A condition on data does not keep the contiguous axis from threads.
#! sizes u=m,n v=m,n
#! run m=0 n=3
#! run m=33 n=37
using Tessella

@tessella function masked!(u::Matrix{Float64}, v::Matrix{Float64})
    for j in axes(u, 2), i in axes(u, 1)
        if v[i, j] > 0
            u[i, j] = 0.5 * v[i, j]
        end
    end
end
