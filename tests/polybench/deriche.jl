# Deriche's edge detector: a recursive filter forwards and backwards along each axis of an image
using Tessella

@tessella function kernel_deriche!(out, image, y1, y2, α)
    m, n = size(image)
    k = (1 - exp(-α)) * (1 - exp(-α)) / (1 + 2 * α * exp(-α) - exp(2 * α))
    a1 = a5 = k
    a2 = a6 = k * exp(-α) * (α - 1)
    a3 = a7 = k * exp(-α) * (α + 1)
    a4 = a8 = -k * exp(-2 * α)
    b1 = 2^(-α)
    b2 = -exp(-2 * α)
    for j in 1:n
        ym1 = ym2 = xm1 = zero(α)
        for i in 1:m
            y1[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
        end
    end
    for j in 1:n
        yp1 = yp2 = xp1 = xp2 = zero(α)
        for i in m:-1:1
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
        end
    end
    for j in 1:n, i in 1:m
        out[i, j] = y1[i, j] + y2[i, j]
    end
    for i in 1:m
        tm1 = ym1 = ym2 = zero(α)
        for j in 1:n
            y1[i, j] = a5 * out[i, j] + a6 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
        end
    end
    for i in 1:m
        tp1 = tp2 = yp1 = yp2 = zero(α)
        for j in n:-1:1
            y2[i, j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
        end
    end
    for j in 1:n, i in 1:m
        out[i, j] = y1[i, j] + y2[i, j]
    end
    return out
end

function deriche_inputs(::Type{T}, w, h) where {T}
    image = T[mod(313 * (i - 1) + 991 * (j - 1), 65536) / 65535 for i in 1:w, j in 1:h]
    return fill(T(NaN), w, h), image, fill(T(NaN), w, h), fill(T(NaN), w, h), T(0.25)
end
