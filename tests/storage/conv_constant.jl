# The weights in constant memory, a tile of the image with its halo in shared memory.
#! target cuda
#! sizes result=m,n image=m,n weights=5,5
using Tessella

@tessella function conv_constant!(result::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32})
    m, n = size(image)
    for j in 3:n-2, i in 3:m-2
        @comp Z result[i, j] = 0
        for q in 1:5, p in 1:5
            @comp S result[i, j] += weights[p, q] * image[i+p-3, j+q-3]
        end
    end
    return nothing
end

@schedule conv_constant! begin
    assume(size(weights, 1) <= 5)
    assume(size(weights, 2) <= 7)
    tile(S, (j, i), (4, 8))
    gpu(S, (j0, i0), (j1, i1))
    constant(weights)
    cache_shared(image, S, i0)
end

function conv_constant_inputs(::Type{T}, n) where {T}
    m = n + 1
    image = T[mod(i * i + 5j, 37) / 37 for i in 1:m, j in 1:n]
    weights = T[(6 - abs(p - 3)) * (6 - abs(q - 3)) / 576 for p in 1:5, q in 1:5]
    return copy(image), image, weights
end
