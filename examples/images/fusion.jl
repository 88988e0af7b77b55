# Four filters of one image, each a loop nest of its own: negative, brighter, their sum, and that negated
using Tessella

@tessella function fusion!(negative, bright, sum, contrast, image)
    m, n, colours = size(image)
    for c in 1:colours, j in 1:n, i in 1:m
        negative[i, j, c] = 255 - image[i, j, c]
    end
    for c in 1:colours, j in 1:n, i in 1:m
        bright[i, j, c] = 2 * image[i, j, c]
    end
    for c in 1:colours, j in 1:n, i in 1:m
        sum[i, j, c] = negative[i, j, c] + bright[i, j, c]
    end
    for c in 1:colours, j in 1:n, i in 1:m
        contrast[i, j, c] = 255 - 2 * sum[i, j, c]
    end
end

function fusion_inputs(::Type{T}, n, m = n + 1) where {T}
    image = T[mod(3i + 5j * c, 256) for i in 1:m, j in 1:n, c in 1:3]
    return fill(T(-1), m, n, 3), fill(T(-1), m, n, 3), fill(T(-1), m, n, 3), fill(T(-1), m, n, 3), image
end
