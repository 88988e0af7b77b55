# y = α A x + β B x, with the first product kept in a vector of its own
using Tessella

@tessella function gesummv!(y, ax, A, B, x, α, β)
    n = length(x)
    for i in 1:n
        ax[i] = 0
        y[i] = 0
    end
    for j in 1:n, i in 1:n
        ax[i] += A[i, j] * x[j]
        y[i] += B[i, j] * x[j]
    end
    for i in 1:n
        y[i] = α * ax[i] + β * y[i]
    end
    return y
end

function gesummv_inputs(::Type{T}, n) where {T}
    A = T[mod(i * j + 1, 19) / 19 - 0.5 for i in 1:n, j in 1:n]
    B = T[mod(i * j + 2, 23) / 23 - 0.5 for i in 1:n, j in 1:n]
    x = T[mod(i, 5) / 5 for i in 1:n]
    return zeros(T, n), zeros(T, n), A, B, x, T(1.5), T(1.2)
end
