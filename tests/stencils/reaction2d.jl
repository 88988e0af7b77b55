# Gray and Scott's reaction of two substances, which diffuse: one nest, and a number that both of its statements use.
#! with space((S, R), t, (j, i), (8, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! gpu space((S, R), t, (j, i), (8, 8))
#! run m=4 n=5 steps=1
#! run m=19 n=23 steps=8
#! run m=21 n=18 steps=7
#! own m=9 n=203 steps=37
@tessella function reaction2d!(U::Matrix{Float64}, V::Matrix{Float64}, U2::Matrix{Float64}, V2::Matrix{Float64}, f::Float64, k::Float64, steps::Int)
    m, n = size(U)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            uvv = U[i, j] * V[i, j]^2
            @comp S U2[i, j] = U[i, j] + 0.16 * (U[i-1, j] + U[i+1, j] + U[i, j-1] + U[i, j+1] - 4U[i, j]) - uvv + f * (1 - U[i, j])
            @comp R V2[i, j] = V[i, j] + 0.08 * (V[i-1, j] + V[i+1, j] + V[i, j-1] + V[i, j+1] - 4V[i, j]) + uvv - (f + k) * V[i, j]
        end
        U, U2 = U2, U
        V, V2 = V2, V
    end
end
