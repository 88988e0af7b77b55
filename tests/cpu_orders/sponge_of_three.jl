# Three sides of a frame in one nest: no order with more loops than it has, most of whose iterations find nothing to do.
using Tessella

@tessella function sponge_of_three!(u::Matrix{Float64}, g::Vector{Float64})
    n1, n2 = size(u)
    for k in eachindex(g), i in 1:n1
        u[i, k] *= g[k]
        u[k, i] *= g[k]
        u[n1-k+1, i] *= g[k]
    end
end
