# B = α Aᵀ B with a unit lower triangular A
using Tessella

@tessella function kernel_trmm!(B, A, α)
    m, n = size(B)
    for j in 1:n, i in 1:m
        for k in i+1:m
            B[i, j] += A[k, i] * B[k, j]
        end
        B[i, j] *= α
    end
    return B
end

function trmm_inputs(::Type{T}, m, n) where {T}
    A = T[j < i ? mod(i + j - 2, m) / m : j == i for i in 1:m, j in 1:m]
    B = T[mod(n + i - j, n) / n for i in 1:m, j in 1:n]
    return B, A, T(1.5)
end
