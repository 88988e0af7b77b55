# Weights of points add up in cells that are computed from their places, in two steps each.
#! sizes h=n,m x=k,l y=k,l w=k,l
#! run n=3 m=2 k=4 l=1
#! run n=5 m=4 k=90 l=2
@tessella function binned_points!(h::Matrix{Float64}, x::Matrix{Float64}, y::Matrix{Float64}, w::Matrix{Float64})
    for j in axes(x, 2), p in axes(x, 1)
        h[clamp(unsafe_trunc(Int, x[p, j]), 1, size(h, 1)), clamp(unsafe_trunc(Int, y[p, j]), 1, size(h, 2))] += w[p, j]
    end
end
