# Columns that threads go along in order, axes of a few elements, and sums that share what they load.
module Columns

using Tessella

@tessella function running_sums!(y, x)
    m, n = size(x)
    for j in 1:n
        s = zero(eltype(y))
        for i in 1:m
            s += x[i, j]
            y[i, j] = s
        end
    end
    return nothing
end

@tessella function tridiagonal!(x, a, b, c, d, cp, dp)
    m, n = size(x)
    for j in 1:n
        cp[1, j] = c[1, j] / b[1, j]
        dp[1, j] = d[1, j] / b[1, j]
        for i in 2:m
            w = b[i, j] - a[i, j] * cp[i-1, j]
            cp[i, j] = c[i, j] / w
            dp[i, j] = (d[i, j] - a[i, j] * dp[i-1, j]) / w
        end
        x[m, j] = dp[m, j]
        for i in m-1:-1:1
            x[i, j] = dp[i, j] - cp[i, j] * x[i+1, j]
        end
    end
    return nothing
end

@tessella function colors!(y, x)
    _, w, h = size(x)
    for j in 1:h, i in 1:w, c in 1:3
        y[c, i, j] = 1 - x[c, i, j]
    end
    return nothing
end

@tessella function small_products!(C, A, B)
    for b in 1:size(C, 3), j in 1:4, i in 1:4
        s = zero(eltype(C))
        for k in 1:4
            s += A[i, k, b] * B[k, j, b]
        end
        C[i, j, b] = s
    end
    return nothing
end

@tessella function layer!(y, x, weights)
    h, w, filters = size(y)
    kh, kw, channels, _ = size(weights)
    for o in 1:filters, j in 1:w, i in 1:h
        s = zero(eltype(y))
        for c in 1:channels, q in 1:kw, p in 1:kh
            s += x[i+p-1, j+q-1, c] * weights[p, q, c, o]
        end
        y[i, j, o] = s
    end
    return nothing
end

value(::Type{T}, k) where {T} = T(mod(7k, 101) / 7 - 5.3)
matrix(::Type{T}, m, n, by) where {T} = T[value(T, i + by * j) for i in 1:m, j in 1:n]
matrices(::Type{T}, m, n = m + 3) where {T} = (zeros(T, m, n), matrix(T, m, n, 3))
function systems(::Type{T}, m, n = m + 3) where {T}
    of(by) = matrix(T, m, n, by)
    return zeros(T, m, n), of(2), of(3) .+ T(20), of(5), of(7), zeros(T, m, n), zeros(T, m, n)
end
pictures(::Type{T}, w, h = w + 3) where {T} = (zeros(T, 3, w, h), T[value(T, c + 2i + 3j) for c in 1:3, i in 1:w, j in 1:h])
batches(::Type{T}, n) where {T} = (zeros(T, 4, 4, n), (T[value(T, i + 2j + by * b) for i in 1:4, j in 1:4, b in 1:n] for by in [3, 5])...)
layers(::Type{T}, h, w = div(h, 2) + 1, channels = 3, filters = div(h, 4) + 1) where {T} =
    (zeros(T, h, w, filters), T[value(T, i + 2j + 3c) for i in 1:h+2, j in 1:w+2, c in 1:channels],
     T[value(T, p + 2q + 3c + 5o) / 8 for p in 1:3, q in 1:3, c in 1:channels, o in 1:filters])

# Around a warp and a tile.
const EXTENTS = [1, 2, 31, 32, 33, 63, 64, 65, 97, 129, 257]
const ALL = [("running_sums", running_sums!, matrices, (4096, 4096)), ("tridiagonal", tridiagonal!, systems, (4096, 4096)),
             ("colors", colors!, pictures, (4096, 4096)), ("small_products", small_products!, batches, (2000000,)),
             ("layer", layer!, layers, (128, 128, 32, 64))]

end
