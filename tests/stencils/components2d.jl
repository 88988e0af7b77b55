# Three components along the last axis, in arrays that change places.
#! with hexagonal(S0, t, (j, i), 3, (5, 8))
#! with time_skew(S0, t, (j, i), 2, (8, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 2, 2)
#! gpu stream(S0, t, 3, 2)
#! gpu grid_sync(S0, t, 2)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=3 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function components2d!(p::Array{Float64, 3}, q::Array{Float64, 3}, c::Float64, steps::Int)
    m, n = size(p, 1), size(p, 2)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            q[i, j, 1] = p[i, j, 1] - c * ((p[i+1, j, 2] - p[i-1, j, 2]) + (p[i, j+1, 3] - p[i, j-1, 3]))
            q[i, j, 2] = p[i, j, 2] - c * (p[i+1, j, 1] - p[i-1, j, 1])
            q[i, j, 3] = p[i, j, 3] - c * (p[i, j+1, 1] - p[i, j-1, 1])
        end
        p, q = q, p
    end
    return p
end
