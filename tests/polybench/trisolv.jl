# L x = b with a lower triangular L
using Tessella

@tessella function kernel_trisolv!(x, L, b)
    n = length(x)
    for i in 1:n
        x[i] = b[i]
        for j in 1:i-1
            x[i] -= L[i, j] * x[j]
        end
        x[i] /= L[i, i]
    end
    return x
end

function trisolv_inputs(::Type{T}, n) where {T}
    L = T[j <= i ? (i + n - j + 1) * 2 / n : 0 for i in 1:n, j in 1:n]
    return fill(T(-999), n), L, T[i - 1 for i in 1:n]
end
