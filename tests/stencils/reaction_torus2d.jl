# Gray and Scott's reaction on a torus, in whole arrays: `circshift` names the neighbours.
#! with space(U, t, (j, i), (8, 8))
#! gpu stream(U, t, 2, 2, 16)
#! run m=4 n=5 steps=1
#! run m=1 n=1 steps=2
#! run m=21 n=19 steps=4
#! own m=65 n=20 steps=11
@tessella function reaction_torus2d!(u::Matrix{Float32}, v::Matrix{Float32}, f::Float32, k::Float32, steps::Int)
    m, n = size(u)
    @assert size(v) == (m, n)
    for t in 1:steps
        lu = circshift(u, (1, 0)) .+ circshift(u, (-1, 0)) .+ circshift(u, (0, 1)) .+ circshift(u, (0, -1)) .- 4 .* u
        lv = circshift(v, (1, 0)) .+ circshift(v, (-1, 0)) .+ circshift(v, (0, 1)) .+ circshift(v, (0, -1)) .- 4 .* v
        uvv = u .* v .* v
        @comp U u .+= 0.16f0 .* lu .- uvv .+ f .* (1 .- u)
        @comp V v .+= 0.08f0 .* lv .+ uvv .- (f + k) .* v
    end
    return nothing
end
