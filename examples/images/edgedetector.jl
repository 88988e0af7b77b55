# Edges of an image: a ring of neighbours averaged, then differences along the diagonals
using Tessella

@tessella function edgedetector!(edges, ring, image)
    m, n = size(image)
    for j in 2:n-1, i in 2:m-1
        ring[i, j] = (image[i-1, j-1] + image[i, j-1] + image[i+1, j-1] + image[i-1, j] + image[i+1, j] +
                      image[i-1, j+1] + image[i, j+1] + image[i+1, j+1]) / 8
    end
    for j in 3:n-1, i in 2:m-2
        edges[i, j] = abs(ring[i+1, j-1] - ring[i, j]) + abs(ring[i, j-1] - ring[i+1, j])
    end
    return edges
end

function edgedetector_inputs(::Type{T}, n, m = n + 2) where {T}
    return zeros(T, m, n), zeros(T, m, n), T[mod(i * j + 3j, 256) for i in 1:m, j in 1:n]
end
