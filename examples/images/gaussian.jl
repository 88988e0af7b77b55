# Gaussian blur as two passes, along columns and along rows; the two outermost rows and columns stay as they are
using Tessella

@tessella function gaussian!(result, columns, image, weights)
    m, n = size(image)
    for j in 1:n, i in 3:m-2
        columns[i, j] = weights[1] * image[i-2, j] + weights[2] * image[i-1, j] + weights[3] * image[i, j] +
                        weights[4] * image[i+1, j] + weights[5] * image[i+2, j]
    end
    for j in 3:n-2, i in 3:m-2
        result[i, j] = weights[1] * columns[i, j-2] + weights[2] * columns[i, j-1] + weights[3] * columns[i, j] +
                       weights[4] * columns[i, j+1] + weights[5] * columns[i, j+2]
    end
    return result
end

function gaussian_inputs(::Type{T}, n, m = n + 1) where {T}
    image = T[mod(i * i + 5j, 37) / 37 for i in 1:m, j in 1:n]
    return copy(image), fill(T(NaN), m, n), image, T[1, 4, 6, 4, 1] ./ T(16)
end
