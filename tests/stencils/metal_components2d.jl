# The fields of metal2d as components of one array, the second of which a plane of one row does not touch. Those of an array that stays are read as they are.
#! with hexagonal(S0, t, (j, i), 3, (5, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 4, 2)
#! refused E0490 hexagonal(S0, t, 2, 5, 2, 128, 2)
#! gpu grid_sync(S0, t, 2)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=3 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function metal_components2d!(E::Matrix{Float64}, H::Array{Float64, 3}, medium::Array{Float64, 3}, metal::Matrix{Bool}, steps::Int)
    m, n = size(E)
    for t in 1:steps
        for j in 1:n-1, i in 1:m
            H[i, j, 1] -= medium[i, j, 1] * (E[i, j+1] - E[i, j])
        end
        for j in 1:n, i in 1:m-1
            H[i, j, 2] += medium[i, j, 1] * (E[i+1, j] - E[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            metal[i, j] && continue
            E[i, j] += medium[i, j, 2] * ((H[i, j, 2] - H[i-1, j, 2]) - (H[i, j, 1] - H[i, j-1, 1]))
        end
    end
end
