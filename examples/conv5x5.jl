# Convolution of an image with a 5×5 kernel; the two outermost rows and columns stay as they are
using Tessella

@tessella function conv5x5!(result, image, weights)
    @assert size(weights) == (5, 5)
    m, n = size(image)
    for j in 3:n-2, i in 3:m-2
        result[i, j] = 0
        for q in 1:5, p in 1:5
            result[i, j] += weights[p, q] * image[i+p-3, j+q-3]
        end
    end
    return result
end

function conv5x5_inputs(::Type{T}, n, m = n + 1) where {T}
    image = T[mod(i * i + 5j, 37) / 37 for i in 1:m, j in 1:n]
    weights = T[(6 - abs(p - 3)) * (6 - abs(q - 3)) / 576 for p in 1:5, q in 1:5]
    return copy(image), image, weights
end
