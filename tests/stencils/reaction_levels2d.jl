# Gray and Scott's reaction once more: each substance has two levels in time, which are the last axis of its array and take turns.
#! with space((S, R), t, (j, i), (8, 8))
#! gpu stream(S, t, 4, 2)
#! run m=4 n=5 U_3=2 steps=1
#! run m=19 n=23 U_3=2 steps=8
#! run m=21 n=18 U_3=2 steps=7
#! own m=9 n=103 U_3=2 steps=37
@tessella function reaction_levels2d!(U::Array{Float64,3}, V::Array{Float64,3}, f::Float64, k::Float64, steps::Int)
    m, n = size(U, 1), size(U, 2)
    @assert size(U, 3) == 2 && size(V) == size(U)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S U[i, j, (t+1)%2+1] = U[i, j, t%2+1] - U[i, j, t%2+1] * V[i, j, t%2+1]^2 + f * (1 - U[i, j, t%2+1]) +
                0.16 * (U[i-1, j, t%2+1] + U[i+1, j, t%2+1] + U[i, j-1, t%2+1] + U[i, j+1, t%2+1] - 4U[i, j, t%2+1])
            @comp R V[i, j, (t+1)%2+1] = V[i, j, t%2+1] + U[i, j, t%2+1] * V[i, j, t%2+1]^2 - (f + k) * V[i, j, t%2+1] +
                0.08 * (V[i-1, j, t%2+1] + V[i+1, j, t%2+1] + V[i, j-1, t%2+1] + V[i, j+1, t%2+1] - 4V[i, j, t%2+1])
        end
    end
end
