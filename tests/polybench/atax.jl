# y = Aᵀ (A x)
using Tessella

@tessella function kernel_atax!(y, Ax, A, x)
    m, n = size(A)
    for i in 1:m
        Ax[i] = 0
    end
    for j in 1:n, i in 1:m
        Ax[i] += A[i, j] * x[j]
    end
    for j in 1:n
        y[j] = 0
        for i in 1:m
            y[j] += A[i, j] * Ax[i]
        end
    end
    return y
end

function atax_inputs(::Type{T}, m, n) where {T}
    A = T[mod(i + j - 2, n) / 5m for i in 1:m, j in 1:n]
    x = T[1 + (i - 1) / n for i in 1:n]
    return fill(T(NaN), n), fill(T(NaN), m), A, x
end
