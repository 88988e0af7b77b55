# Colour images to grey ones: in bytes with integer weights, and in floating point
using Tessella

@tessella function rgb2gray!(gray, image)
    m, n = size(gray)
    for j in 1:n, i in 1:m
        r = image[i, j, 1]
        g = image[i, j, 2]
        b = image[i, j, 3]
        gray[i, j] = (77r + 150g + 29b) >> 8 % UInt8
    end
    return gray
end

@tessella function rgb2gray_float!(gray, image)
    m, n = size(gray)
    for j in 1:n, i in 1:m
        gray[i, j] = 0.299f0 * image[i, j, 1] + 0.587f0 * image[i, j, 2] + 0.114f0 * image[i, j, 3]
    end
    return gray
end

function rgb2gray_inputs(::Type{T}, n, m = n + 3) where {T}
    image = UInt8[mod(7i + 11j * c + i * j, 256) for i in 1:m, j in 1:n, c in 1:3]
    return zeros(T, m, n), T <: Integer ? T.(image) : T.(image) ./ T(255)
end
