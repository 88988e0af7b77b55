# RGB bytes to YUV 4:2:0: a brightness for each pixel, two colours for each square of four
using Tessella

@tessella function rgbyuv420!(y, u, v, image)
    m, n = size(y)
    for j in 1:n, i in 1:m
        r = Int32(image[i, j, 1])
        g = Int32(image[i, j, 2])
        b = Int32(image[i, j, 3])
        y[i, j] = ((66r + 129g + 25b + 128) >> 8 + 16) % UInt8
    end
    for j in 1:n÷2, i in 1:m÷2
        r = Int32(image[2i, 2j, 1])
        g = Int32(image[2i, 2j, 2])
        b = Int32(image[2i, 2j, 3])
        u[i, j] = ((-38r - 74g + 112b + 128) >> 8 + 128) % UInt8
        v[i, j] = ((112r - 94g - 18b + 128) >> 8 + 128) % UInt8
    end
end

function rgbyuv420_inputs(::Type{T}, n, m = n + 3) where {T}
    image = T[mod(7i + 11j * c + i * j, 256) for i in 1:m, j in 1:n, c in 1:3]
    return zeros(T, m, n), zeros(T, m ÷ 2, n ÷ 2), zeros(T, m ÷ 2, n ÷ 2), image
end
