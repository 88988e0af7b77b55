# C = α A Aᵀ + β C, the lower triangle of a symmetric C
using Tessella

@tessella function kernel_syrk!(C, A, α, β)
    n, m = size(A)
    for j in 1:n
        for i in j:n
            C[i, j] *= β
        end
        for k in 1:m, i in j:n
            C[i, j] += α * A[i, k] * A[j, k]
        end
    end
    return C
end

function syrk_inputs(::Type{T}, m, n) where {T}
    A = T[mod((i - 1) * (j - 1) + 1, n) / n for i in 1:n, j in 1:m]
    C = T[mod((i - 1) * (j - 1) + 2, m) / m for i in 1:n, j in 1:n]
    return C, A, T(1.5), T(1.2)
end
