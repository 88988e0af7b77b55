# C = β C + α A B
using Tessella

@tessella function gemm!(C, A, B, α, β)
    m, n = size(C)
    p = size(A, 2)
    for j in 1:n, i in 1:m
        @comp scale C[i, j] *= β
    end
    for j in 1:n, k in 1:p, i in 1:m
        @comp update C[i, j] += α * A[i, k] * B[k, j]
    end
    return C
end

function gemm_inputs(::Type{T}, n) where {T}
    m, p = n, n + 1
    C = T[mod(i * j, 7) / 7 for i in 1:m, j in 1:n]
    A = T[mod(3i + k, 11) / 11 - 0.5 for i in 1:m, k in 1:p]
    B = T[mod(i + 5j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
    return C, A, B, T(1.5), T(1.2)
end
