# Speckle reducing anisotropic diffusion: smooths an image where it is even, and keeps its edges
using Tessella

@tessella function srad!(J, c, dn, ds, dw, de, steps, λ)
    m, n = size(J)
    for t in 1:steps
        total = zero(λ)
        squares = zero(λ)
        for j in 1:n, i in 1:m
            total += J[i, j]
            squares += J[i, j] * J[i, j]
        end
        mean = total / (m * n)
        q0 = (squares / (m * n) - mean * mean) / (mean * mean)
        for j in 1:n, i in 1:m
            here = J[i, j]
            dn[i, j] = (i > 1 ? J[i-1, j] : here) - here
            ds[i, j] = (i < m ? J[i+1, j] : here) - here
            dw[i, j] = (j > 1 ? J[i, j-1] : here) - here
            de[i, j] = (j < n ? J[i, j+1] : here) - here
            gradient = (dn[i, j] * dn[i, j] + ds[i, j] * ds[i, j] + dw[i, j] * dw[i, j] + de[i, j] * de[i, j]) /
                       (here * here)
            laplacian = (dn[i, j] + ds[i, j] + dw[i, j] + de[i, j]) / here
            numerator = gradient / 2 - laplacian * laplacian / 16
            denominator = 1 + laplacian / 4
            q = numerator / (denominator * denominator)
            value = 1 / (1 + (q - q0) / (q0 * (1 + q0)))
            c[i, j] = value < 0 ? zero(λ) : value > 1 ? one(λ) : value
        end
        for j in 1:n, i in 1:m
            south = i < m ? c[i+1, j] : c[i, j]
            east = j < n ? c[i, j+1] : c[i, j]
            change = c[i, j] * dn[i, j] + south * ds[i, j] + c[i, j] * dw[i, j] + east * de[i, j]
            J[i, j] += λ / 4 * change
        end
    end
end

function srad_inputs(::Type{T}, n, m = n + 1, steps = 3) where {T}
    J = T[1 + mod(i * i + 3j, 31) / 31 for i in 1:m, j in 1:n]
    return J, ntuple(_ -> fill(T(NaN), m, n), Val(5))..., steps, T(0.5)
end
