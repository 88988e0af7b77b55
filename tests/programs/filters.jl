"""
Filters of images and signals: separable kernels, bilateral, non-maximum suppression, Savitzky-Golay, bilinear resampling, distance transforms, equalisation, full convolution.
"""
module Filters

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

const GAUSS5 = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)

"Border by clamping, two passes."
@tessella function gaussian_blur!(out, img)
    h, w = size(img)
    tmp = similar(img)
    for y in 1:w, x in 1:h
        acc = 0.0
        for k in -2:2
            acc += GAUSS5[k+3] * img[clamp(x + k, 1, h), y]
        end
        tmp[x, y] = acc
    end
    for y in 1:w, x in 1:h
        acc = 0.0
        for k in -2:2
            acc += GAUSS5[k+3] * tmp[x, clamp(y + k, 1, w)]
        end
        out[x, y] = acc
    end
    return out
end

@tessella function bilateral!(out, img, r, sigma_r)
    m, n = size(img)
    @inbounds for j in 1:n, i in 1:m
        c = img[i, j]
        num = den = zero(c)
        for dj in max(1, j - r):min(n, j + r), di in max(1, i - r):min(m, i + r)
            v = img[di, dj]
            w = 1 / (1 + ((v - c) / sigma_r)^2)
            num += w * v
            den += w
        end
        out[i, j] = num / den
    end
    out
end

"Canny's thinning of gradients: directions are numbered 0 to 3."
@tessella function nonmax_suppression!(out, mag, dir::Matrix{Int})
    fill!(out, 0)
    rows, cols = size(mag)
    for c in 2:cols-1
        for r in 2:rows-1
            d = dir[r, c]
            if d == 0
                q, p = mag[r, c+1], mag[r, c-1]
            elseif d == 1
                q, p = mag[r+1, c-1], mag[r-1, c+1]
            elseif d == 2
                q, p = mag[r+1, c], mag[r-1, c]
            else
                q, p = mag[r-1, c-1], mag[r+1, c+1]
            end
            if mag[r, c] >= q && mag[r, c] >= p
                out[r, c] = mag[r, c]
            end
        end
    end
    return out
end

"Quadratic Savitzky-Golay of five points, one-sided copies at the ends."
@tessella function savitzky_golay(y::Vector{T}) where {T}
    c = T[-3, 12, 17, 12, -3] / 35
    n = length(y)
    out = copy(y)
    for i in 3:n-2
        out[i] = sum(c[k+3] * y[i+k] for k in -2:2)
    end
    return out
end

"An image sampled at scaled places."
@tessella function bilinear!(dst, src)
    h, w = size(src)
    H, W = size(dst)
    sy = (h - 1) / max(H - 1, 1)
    sx = (w - 1) / max(W - 1, 1)
    for J in 1:W
        x = (J - 1) * sx + 1
        x0 = min(floor(Int, x), w - 1)
        tx = x - x0
        for I in 1:H
            y = (I - 1) * sy + 1
            y0 = min(floor(Int, y), h - 1)
            ty = y - y0
            top = (1 - tx) * src[y0, x0] + tx * src[y0, x0+1]
            bottom = (1 - tx) * src[y0+1, x0] + tx * src[y0+1, x0+1]
            dst[I, J] = (1 - ty) * top + ty * bottom
        end
    end
    return dst
end

"Chamfer distances, two sweeps."
@tessella function chamfer!(d::Matrix{Int}, mask::Matrix{Bool})
    m, n = size(mask)
    far = m + n + 10
    for k in eachindex(d)
        d[k] = mask[k] ? 0 : 3far
    end
    for j in 1:n, i in 1:m
        i > 1 && (d[i, j] = min(d[i, j], d[i-1, j] + 3))
        j > 1 && (d[i, j] = min(d[i, j], d[i, j-1] + 3))
        (i > 1 && j > 1) && (d[i, j] = min(d[i, j], d[i-1, j-1] + 4))
    end
    for j in n:-1:1, i in m:-1:1
        i < m && (d[i, j] = min(d[i, j], d[i+1, j] + 3))
        j < n && (d[i, j] = min(d[i, j], d[i, j+1] + 3))
        (i < m && j < n) && (d[i, j] = min(d[i, j], d[i+1, j+1] + 4))
    end
    return d
end

"Equalisation with a cumulated histogram; intensities from 0 to 1."
@tessella function equalize(img::AbstractMatrix{T}, nbins::Int = 16) where {T}
    hist = zeros(Int, nbins)
    for x in img
        b = clamp(floor(Int, x * nbins) + 1, 1, nbins)
        hist[b] += 1
    end
    cdf = cumsum(hist)
    total = cdf[end]
    out = similar(img)
    for i in eachindex(img)
        b = clamp(floor(Int, img[i] * nbins) + 1, 1, nbins)
        out[i] = cdf[b] / total
    end
    return out
end

"Unsharp masking with a box of three by three, inside only."
@tessella function unsharp!(out, img; amount = 1.5)
    rows = axes(img, 1)
    cols = axes(img, 2)
    @. out = img
    for j in cols[2:end-1], i in rows[2:end-1]
        blurred = (sum(@view img[i-1:i+1, j-1:j+1])) / 9
        out[i, j] = clamp(img[i, j] + amount * (img[i, j] - blurred), 0, 1)
    end
    out
end

"Full convolution of two sequences."
@tessella function convolve(a::Vector{T}, b::Vector{T}) where {T}
    n, m = length(a), length(b)
    c = zeros(T, n + m - 1)
    for i in 1:n, j in 1:m
        c[i+j-1] += a[i] * b[j]
    end
    return c
end

picture(T, m, n) = clamp.(positive_of(T, m, n) .- T(0.5), 0, 1)

program(gaussian_blur!, (T, n) -> (zeros(T, n, n + 1), picture(T, n, n + 1)); types = [Float32, Float64], slow = true)
program(bilateral!, (T, n) -> (zeros(T, n, n), picture(T, n, n), 2, T(0.25)); slow = true)
program(nonmax_suppression!, (T, n) -> (values_of(T, n, n + 2), positive_of(T, n, n + 2), integers_of(0, 3, n, n + 2)))
program(savitzky_golay, (T, n) -> (values_of(T, n),); types = [Float32, Float64])
program(bilinear!, (T, n) -> (zeros(T, 2n, n + 3), picture(T, n, n)); sizes = [2, 3, 7])
program(chamfer!, (T, n) -> (zeros(Int, n, n + 1), Matrix{Bool}(isodd.(integers_of(1, 30, n, n + 1) .÷ 8))))
program(equalize, (T, n) -> (picture(T, n, n),); sizes = [1, 2, 7])
program(unsharp!, (T, n) -> (zeros(T, n, n), picture(T, n, n)); sizes = [2, 3, 7])
program(convolve, (T, n) -> (values_of(T, n), positive_of(T, 3)))

end
