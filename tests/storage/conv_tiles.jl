# Tile with its halo and the weights in shared memory, the sum of a point in a register.
#! target cuda
#! sizes result=m,n image=m,n weights=5,5
using Tessella

@tessella function conv_tiles!(result::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32})
    m, n = size(image)
    for j in 3:n-2, i in 3:m-2
        @comp Z result[i, j] = 0
        for q in 1:5, p in 1:5
            @comp S result[i, j] += weights[p, q] * image[i+p-3, j+q-3]
        end
    end
    return nothing
end

@schedule conv_tiles! begin
    tile(S, (j, i), (4, 8))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(image, S, i0)
    cache_shared(weights, S, i0)
    cache_register(result, S, i1)
end

function conv_tiles_inputs(::Type{T}, n) where {T}
    m = n + 1
    image = T[mod(i * i + 5j, 37) / 37 for i in 1:m, j in 1:n]
    weights = T[(6 - abs(p - 3)) * (6 - abs(q - 3)) / 576 for p in 1:5, q in 1:5]
    return copy(image), image, weights
end
