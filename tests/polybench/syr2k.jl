# C = α A Bᵀ + α B Aᵀ + β C, the lower triangle of a symmetric C
using Tessella

@tessella function kernel_syr2k!(C, A, B, α, β)
    n, m = size(A)
    for j in 1:n
        for i in j:n
            C[i, j] *= β
        end
        for k in 1:m, i in j:n
            C[i, j] += A[j, k] * α * B[i, k] + B[j, k] * α * A[i, k]
        end
    end
    return C
end

function syr2k_inputs(::Type{T}, m, n) where {T}
    A = T[mod((i - 1) * (j - 1) + 1, n) / n for i in 1:n, j in 1:m]
    B = T[mod((i - 1) * (j - 1) + 2, m) / m for i in 1:n, j in 1:m]
    C = T[mod((i - 1) * (j - 1) + 3, n) / m for i in 1:n, j in 1:n]
    return C, A, B, T(1.5), T(1.2)
end
