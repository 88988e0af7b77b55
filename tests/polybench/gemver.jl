# Two rank-one updates of A, then x = β Aᵀ y + z and w = α A x
using Tessella

@tessella function kernel_gemver!(A, u1, v1, u2, v2, w, x, y, z, α, β)
    n = size(A, 1)
    for j in 1:n, i in 1:n
        A[i, j] += u1[i] * v1[j] + u2[i] * v2[j]
    end
    for i in 1:n, j in 1:n
        x[i] += β * A[j, i] * y[j]
    end
    for i in 1:n
        x[i] += z[i]
    end
    for j in 1:n, i in 1:n
        w[i] += α * A[i, j] * x[j]
    end
    return w
end

function gemver_inputs(::Type{T}, n) where {T}
    part(divisor) = T[i / n / divisor for i in 1:n]
    A = T[mod((i - 1) * (j - 1), n) / n for i in 1:n, j in 1:n]
    u1 = T[i - 1 for i in 1:n]
    return A, u1, part(4), part(2), part(6), zeros(T, n), zeros(T, n), part(8), part(9), T(1.5), T(1.2)
end
