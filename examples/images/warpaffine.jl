# An affine map of an image: each pixel looks up where it comes from and mixes the four pixels around that place
using Tessella

@tessella function warpaffine!(result, image, map)
    m, n = size(result)
    rows, columns = size(image)
    for j in 1:n, i in 1:m
        y = map[1, 1] * i + map[1, 2] * j + map[1, 3]
        x = map[2, 1] * i + map[2, 2] * j + map[2, 3]
        top = clamp(unsafe_trunc(Int, floor(y)), 1, rows - 1)
        left = clamp(unsafe_trunc(Int, floor(x)), 1, columns - 1)
        down = clamp(y - top, zero(y), one(y))
        right = clamp(x - left, zero(x), one(x))
        @inbounds begin
            above = (1 - right) * image[top, left] + right * image[top, left+1]
            below = (1 - right) * image[top+1, left] + right * image[top+1, left+1]
            result[i, j] = (1 - down) * above + down * below
        end
    end
    return result
end

# Turned by a sixth of a right angle, and shifted.
function warpaffine_inputs(::Type{T}, n, m = n + 1) where {T}
    image = T[mod(i * i + 3j, 251) for i in 1:m+1, j in 1:n+2]
    map = T[0.966 -0.259 n/5; 0.259 0.966 -1]
    return fill(T(NaN), m, n), image, map
end
