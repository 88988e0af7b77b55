# C = α A B + β C
using Tessella

@tessella function kernel_gemm!(C, A, B, α, β)
    ni, nk = size(A)
    nj = size(B, 2)
    for j in 1:nj
        for i in 1:ni
            C[i, j] *= β
        end
        for k in 1:nk, i in 1:ni
            C[i, j] += α * A[i, k] * B[k, j]
        end
    end
    return C
end

function gemm_inputs(::Type{T}, ni, nj, nk) where {T}
    C = T[mod((i - 1) * (j - 1) + 1, ni) / ni for i in 1:ni, j in 1:nj]
    A = T[mod((i - 1) * j, nk) / nk for i in 1:ni, j in 1:nk]
    B = T[mod((i - 1) * (j + 1), nj) / nj for i in 1:nk, j in 1:nj]
    return C, A, B, T(1.5), T(1.2)
end
