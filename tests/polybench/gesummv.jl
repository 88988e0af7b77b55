# y = α A x + β B x
using Tessella

@tessella function kernel_gesummv!(y, Ax, A, B, x, α, β)
    n = length(x)
    for i in 1:n
        Ax[i] = 0
        y[i] = 0
        for j in 1:n
            Ax[i] += A[i, j] * x[j]
            y[i] += B[i, j] * x[j]
        end
        y[i] = α * Ax[i] + β * y[i]
    end
    return y
end

function gesummv_inputs(::Type{T}, n) where {T}
    A = T[mod((i - 1) * (j - 1) + 1, n) / n for i in 1:n, j in 1:n]
    B = T[mod((i - 1) * (j - 1) + 2, n) / n for i in 1:n, j in 1:n]
    x = T[mod(i - 1, n) / n for i in 1:n]
    return fill(T(NaN), n), fill(T(NaN), n), A, B, x, T(1.5), T(1.2)
end
