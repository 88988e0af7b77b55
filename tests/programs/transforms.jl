"""
Transforms: discrete Fourier and cosine, radix-2 passes on real pairs, Haar wavelets, Walsh-Hadamard, convolution, Chebyshev.
"""
module Transforms

using Tessella
using ..Programs: program, values_of, positive_of

"One pass of radix 2 in the order of Stockham, with `half` butterflies in a block; twiddles are given."
@tessella function stockham_pass!(yr, yi, xr, xi, cosines, sines, half::Int, blocks::Int)
    for p in 0:half-1
        wr, wi = cosines[p+1], sines[p+1]
        for q in 0:blocks-1
            a = q + blocks * p + 1
            ar, ai = xr[q+1, p+1, 1], xi[q+1, p+1, 1]
            br, bi = xr[q+1, p+1, 2], xi[q+1, p+1, 2]
            yr[q+1, 1, p+1] = ar + br
            yi[q+1, 1, p+1] = ai + bi
            yr[q+1, 2, p+1] = (ar - br) * wr - (ai - bi) * wi
            yi[q+1, 2, p+1] = (ar - br) * wi + (ai - bi) * wr
        end
    end
end

"The plain sum, with a table of roots."
@tessella function dft!(Xr, Xi, x, c, s)
    N = length(x)
    for k in 0:N-1
        sr = si = 0.0
        for n in 0:N-1
            w = mod(k * n, N) + 1
            sr += x[n+1] * c[w]
            si -= x[n+1] * s[w]
        end
        Xr[k+1] = sr
        Xi[k+1] = si
    end
end

@tessella function haar!(out, x, levels)
    n = length(x)
    out .= x
    tmp = zeros(eltype(x), n)
    len = n
    for l in 1:levels
        half = n ÷ 2
        for i in 1:half
            tmp[i] = (out[2i-1] + out[2i]) / 2
            tmp[half+i] = (out[2i-1] - out[2i]) / 2
        end
        out[1:2half] .= tmp[1:2half]
    end
    return out
end

"8 x 8 cosine transform of each block of an image."
@tessella function dct_blocks!(out, img, basis)
    m, n = size(img)
    tmp = zeros(eltype(img), 8, 8)
    for bj in 0:n÷8-1, bi in 0:m÷8-1
        for v in 1:8, i in 1:8
            acc = zero(eltype(img))
            for j in 1:8
                acc += basis[v, j] * img[8bi+i, 8bj+j]
            end
            tmp[i, v] = acc
        end
        for v in 1:8, u in 1:8
            acc = zero(eltype(img))
            for i in 1:8
                acc += basis[u, i] * tmp[i, v]
            end
            out[8bi+u, 8bj+v] = acc
        end
    end
    return out
end

"Convolution as a gather, ends cut."
@tessella function convolve_same!(c, a, b)
    h = length(b) ÷ 2
    n = length(a)
    for i in 1:n
        acc = zero(eltype(c))
        for k in eachindex(b)
            j = i + k - h - 1
            1 <= j <= n || continue
            acc += a[j] * b[k]
        end
        c[i] = acc
    end
    return c
end

"Chebyshev series by Clenshaw at many points."
@tessella function clenshaw!(y, coefficients, x)
    n = length(coefficients)
    for i in eachindex(x)
        b1 = b2 = zero(eltype(y))
        for k in n:-1:2
            b1, b2 = coefficients[k] + 2x[i] * b1 - b2, b1
        end
        y[i] = n == 0 ? zero(eltype(y)) : coefficients[1] + x[i] * b1 - b2
    end
    return y
end

@tessella function horner!(y, c, x)
    for i in eachindex(x, y)
        acc = zero(eltype(y))
        for k in reverse(eachindex(c))
            acc = muladd(acc, 0, acc) * x[i] + c[k]
        end
        y[i] = acc
    end
end

@tessella function legendre!(P, x)
    n, deg = size(P)
    for i in 1:n
        P[i, 1] = 1
        deg > 1 && (P[i, 2] = x[i])
        for l in 3:deg
            P[i, l] = ((2l - 3) * x[i] * P[i, l-1] - (l - 2) * P[i, l-2]) / (l - 1)
        end
    end
end

"Infinite impulse response: two cascaded biquads."
@tessella function biquads!(y, x, b, a)
    n = length(x)
    sections = size(b, 2)
    y .= x
    for s in 1:sections
        z1 = z2 = zero(eltype(y))
        for i in 1:n
            input = y[i]
            output = b[1, s] * input + z1
            z1 = b[2, s] * input - a[1, s] * output + z2
            z2 = b[3, s] * input - a[2, s] * output
            y[i] = output
        end
    end
    return y
end

roots(T, n) = (T[cos(2pi * k / n) for k in 0:n-1], T[sin(2pi * k / n) for k in 0:n-1])

program(stockham_pass!, (T, n) -> (zeros(T, n, 2, 3), zeros(T, n, 2, 3), values_of(T, n, 3, 2), positive_of(T, n, 3, 2), values_of(T, 3), positive_of(T, 3), 3, n); slow = true)
program(dft!, (T, n) -> (zeros(T, n), zeros(T, n), values_of(T, n), roots(T, n)...))
program(haar!, (T, n) -> (zeros(T, n), values_of(T, n), 2))
program(dct_blocks!, (T, n) -> (zeros(T, n, 2n), values_of(T, n, 2n), values_of(T, 8, 8)); slow = true)
program(convolve_same!, (T, n) -> (zeros(T, n), values_of(T, n), positive_of(T, 5)))
program(clenshaw!, (T, n) -> (zeros(T, n), values_of(T, 6), values_of(T, n)); types = [Float32, Float64])
program(horner!, (T, n) -> (zeros(T, n), values_of(T, 6), values_of(T, n)))
program(legendre!, (T, n) -> (zeros(T, n, 5), values_of(T, n)))
program(biquads!, (T, n) -> (zeros(T, n), values_of(T, n), values_of(T, 3, 2), values_of(T, 2, 2) ./ 2))

end
