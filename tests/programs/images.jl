"""
An image pipeline: grey, box blur by an integral image, Sobel, histogram equalisation, thresholds, morphology, resampling.
"""
module Images

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

luma(r, g, b) = 0.299 * r + 0.587 * g + 0.114 * b

to_byte(x) = round(UInt8, clamp(x, 0, 255))

@tessella function grey!(out, rgb)
    for j in axes(rgb, 3), i in axes(rgb, 2)
        out[i, j] = luma(rgb[1, i, j], rgb[2, i, j], rgb[3, i, j])
    end
    return out
end

@tessella function grey_bytes(rgb::Array{UInt8,3})
    _, m, n = size(rgb)
    out = Matrix{UInt8}(undef, m, n)
    for j in 1:n, i in 1:m
        out[i, j] = to_byte(luma(rgb[1, i, j], rgb[2, i, j], rgb[3, i, j]))
    end
    return out
end

"Summed-area table with a row and column of zeros in front."
function integral_image(A::AbstractMatrix{T}) where {T}
    m, n = size(A)
    S = zeros(T, m + 1, n + 1)
    for j in 1:n
        for i in 1:m
            S[i+1, j+1] = A[i, j] + S[i, j+1] + S[i+1, j] - S[i, j]
        end
    end
    return S
end

@tessella function box_blur!(B, A; r::Int = 2)
    m, n = size(A)
    S = integral_image(A)
    for j in 1:n
        j0, j1 = max(1, j - r), min(n, j + r)
        for i in 1:m
            i0, i1 = max(1, i - r), min(m, i + r)
            total = S[i1+1, j1+1] - S[i0, j1+1] - S[i1+1, j0] + S[i0, j0]
            B[i, j] = total / ((i1 - i0 + 1) * (j1 - j0 + 1))
        end
    end
    return B
end

@tessella function sobel!(G, A)
    m, n = size(A)
    fill!(G, 0)
    for j in 2:n-1, i in 2:m-1
        gx = (A[i-1, j+1] + 2A[i, j+1] + A[i+1, j+1]) - (A[i-1, j-1] + 2A[i, j-1] + A[i+1, j-1])
        gy = (A[i+1, j-1] + 2A[i+1, j] + A[i+1, j+1]) - (A[i-1, j-1] + 2A[i-1, j] + A[i-1, j+1])
        G[i, j] = sqrt(gx^2 + gy^2)
    end
    return nothing
end

"Correlation with any odd kernel, the border replicated."
@tessella function filter2!(out, img, kernel)
    kh, kw = size(kernel) .÷ 2
    m, n = size(img)
    for j in 1:n, i in 1:m
        acc = zero(eltype(out))
        for q in -kw:kw, p in -kh:kh
            acc += img[clamp(i + p, 1, m), clamp(j + q, 1, n)] * kernel[p+kh+1, q+kw+1]
        end
        out[i, j] = acc
    end
end

@tessella function histogram!(h::Vector{Int}, img::Matrix{UInt8})
    fill!(h, 0)
    for p in img
        h[p + 1] += 1
    end
    return h
end

@tessella function equalise!(out::Matrix{UInt8}, img::Matrix{UInt8})
    hist = zeros(Int, 256)
    for k in eachindex(img)
        hist[Int(img[k])+1] += 1
    end
    cdf = zeros(Int, 256)
    running = 0
    for k in 1:256
        running += hist[k]
        cdf[k] = running
    end
    n = length(img)
    for k in eachindex(img)
        out[k] = unsafe_trunc(UInt8, cdf[Int(img[k])+1] * 255 / n)
    end
    return out
end

"The cumulative distribution by hand."
@tessella function lookup_table!(table::Vector{UInt8}, hist::Vector{Int}, npixels)
    running = 0
    for k in 1:256
        running += hist[k]
        table[k] = min(255, running * 255 ÷ max(npixels, 1)) % UInt8
    end
end

@tessella apply_table!(out, img, table) = begin
    for i in eachindex(img)
        out[i] = table[Int(img[i]) + 1]
    end
    out
end

@tessella function threshold!(mask, img, level)
    mask .= ifelse.(img .> level, one(eltype(mask)), zero(eltype(mask)))
    return count(img .> level)
end

"Erosion and dilation by a cross."
@tessella function opening!(out, img)
    m, n = size(img)
    tmp = similar(img)
    for j in 1:n, i in 1:m
        v = img[i, j]
        i > 1 && (v = min(v, img[i-1, j]))
        i < m && (v = min(v, img[i+1, j]))
        j > 1 && (v = min(v, img[i, j-1]))
        j < n && (v = min(v, img[i, j+1]))
        tmp[i, j] = v
    end
    for j in 1:n, i in 1:m
        v = tmp[i, j]
        if i > 1
            v = max(v, tmp[i-1, j])
        end
        if i < m
            v = max(v, tmp[i+1, j])
        end
        if j > 1
            v = max(v, tmp[i, j-1])
        end
        if j < n
            v = max(v, tmp[i, j+1])
        end
        out[i, j] = v
    end
    return out
end

"Half the size, by averages of four."
@tessella function downsample(A)
    m, n = size(A) .÷ 2
    return [(A[2i-1, 2j-1] + A[2i, 2j-1] + A[2i-1, 2j] + A[2i, 2j]) / 4 for i in 1:m, j in 1:n]
end

"Bilinear interpolation to the size of `out`."
@tessella function resize!(out, A)
    m, n = size(A)
    M, N = size(out)
    for j in 1:N, i in 1:M
        y = (i - 0.5) * m / M + 0.5
        x = (j - 0.5) * n / N + 0.5
        i0 = clamp(floor(Int, y), 1, m)
        j0 = clamp(floor(Int, x), 1, n)
        i1 = min(i0 + 1, m)
        j1 = min(j0 + 1, n)
        a = clamp(y - i0, 0, 1)
        b = clamp(x - j0, 0, 1)
        out[i, j] = (1 - a) * (1 - b) * A[i0, j0] + a * (1 - b) * A[i1, j0] + (1 - a) * b * A[i0, j1] + a * b * A[i1, j1]
    end
end

"Contrast, stretched to [0, 1]."
@tessella function stretch!(A)
    isempty(A) && return A
    lo, hi = extrema(A)
    if hi > lo
        @. A = (A - lo) / (hi - lo)
    end
    return A
end

"Median of three by three."
@tessella function median3!(out, A)
    m, n = size(A)
    w = zeros(eltype(A), 9)
    for j in 2:n-1, i in 2:m-1
        for q in 0:2, p in 0:2
            w[3q+p+1] = A[i+p-1, j+q-1]
        end
        for a in 1:8, b in 1:9-a
            if w[b] > w[b+1]
                w[b], w[b+1] = w[b+1], w[b]
            end
        end
        out[i, j] = w[5]
    end
end

bytes(sizes...) = UInt8.(integers_of(0, 255, sizes...))

program(grey!, (T, n) -> (zeros(T, n, n), positive_of(T, 3, n, n)); types = [Float32, Float64])
program(grey_bytes, (T, n) -> (bytes(3, n, n + 1),))
program(box_blur!, (T, n) -> (zeros(T, n, n), positive_of(T, n, n)); slow = true)
program(sobel!, (T, n) -> (ones(T, n, n), values_of(T, n, n)); types = [Float32, Float64])
program(filter2!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), values_of(T, 3, 5)); slow = true)
program(histogram!, (T, n) -> (zeros(Int, 256), bytes(n, n)))
program(equalise!, (T, n) -> (bytes(n, n), bytes(n, n)))
program(lookup_table!, (T, n) -> (zeros(UInt8, 256), integers_of(0, 9, 256), n))
program(apply_table!, (T, n) -> (bytes(n, n), bytes(n, n), bytes(256)))
program(threshold!, (T, n) -> (zeros(Int, n, n), values_of(T, n, n), T(0.25)))
program(opening!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))
program(downsample, (T, n) -> (values_of(T, n, n),))
program(resize!, (T, n) -> (zeros(T, n + 2, 2n), values_of(T, n, n)))
program(stretch!, (T, n) -> (values_of(T, n, n),))
program(median3!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)); slow = true)

end
