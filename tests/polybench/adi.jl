# Heat equation by alternating directions: a tridiagonal solve along each column, then along each row
using Tessella

@tessella function kernel_adi!(u, v, p, q, steps)
    n = size(u, 1)
    Δx = 1.0 / n
    Δy = 1.0 / n
    Δt = 1.0 / steps
    mul1 = 2.0 * Δt / (Δx * Δx)
    mul2 = 1.0 * Δt / (Δy * Δy)
    a = -mul1 / 2.0
    b = 1.0 + mul1
    c = a
    d = -mul2 / 2.0
    e = 1.0 + mul2
    f = d
    for t in 1:steps
        for i in 2:n-1
            v[1, i] = 1
            p[i, 1] = 0
            q[i, 1] = v[1, i]
            for j in 2:n-1
                p[i, j] = -c / (a * p[i, j-1] + b)
                q[i, j] = (-d * u[j, i-1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i+1] - a * q[i, j-1]) /
                          (a * p[i, j-1] + b)
            end
            v[n, i] = 1
            for j in n-1:-1:2
                v[j, i] = p[i, j] * v[j+1, i] + q[i, j]
            end
        end
        for i in 2:n-1
            u[i, 1] = 1
            p[i, 1] = 0
            q[i, 1] = u[i, 1]
            for j in 2:n-1
                p[i, j] = -f / (d * p[i, j-1] + e)
                q[i, j] = (-a * v[i-1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i+1, j] - d * q[i, j-1]) /
                          (d * p[i, j-1] + e)
            end
            u[i, n] = 1
            for j in n-1:-1:2
                u[i, j] = p[i, j] * u[i, j+1] + q[i, j]
            end
        end
    end
    return u
end

function adi_inputs(::Type{T}, steps, n) where {T}
    u = T[(i - 1 + n - (j - 1)) / n for i in 1:n, j in 1:n]
    return u, zeros(T, n, n), zeros(T, n, n), zeros(T, n, n), steps
end
