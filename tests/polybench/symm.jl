# C = α A B + β C with a symmetric A, of which the lower triangle is stored
using Tessella

@tessella function kernel_symm!(C, A, B, α, β)
    m, n = size(C)
    for j in 1:n, i in 1:m
        total = zero(eltype(C))
        for k in 1:i-1
            C[k, j] += α * B[i, j] * A[i, k]
            total += B[k, j] * A[i, k]
        end
        C[i, j] = β * C[i, j] + α * B[i, j] * A[i, i] + α * total
    end
    return C
end

function symm_inputs(::Type{T}, m, n) where {T}
    C = T[mod(i + j - 2, 100) / m for i in 1:m, j in 1:n]
    A = T[j <= i ? mod(i + j - 2, 100) / m : -999 for i in 1:m, j in 1:m]
    B = T[mod(n + i - j, 100) / m for i in 1:m, j in 1:n]
    return C, A, B, T(1.5), T(1.2)
end
