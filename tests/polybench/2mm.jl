# D = α A B C + β D, by way of the product α A B
using Tessella

@tessella function kernel_2mm!(D, AB, A, B, C, α, β)
    ni, nk = size(A)
    nj, nl = size(C)
    for j in 1:nj, i in 1:ni
        AB[i, j] = 0
        for k in 1:nk
            AB[i, j] += α * A[i, k] * B[k, j]
        end
    end
    for l in 1:nl, i in 1:ni
        D[i, l] *= β
        for j in 1:nj
            D[i, l] += AB[i, j] * C[j, l]
        end
    end
    return D
end

function mm2_inputs(::Type{T}, ni, nj, nk, nl) where {T}
    A = T[mod((i - 1) * (j - 1) + 1, ni) / ni for i in 1:ni, j in 1:nk]
    B = T[mod((i - 1) * j, nj) / nj for i in 1:nk, j in 1:nj]
    C = T[mod((i - 1) * (j + 2) + 1, nl) / nl for i in 1:nj, j in 1:nl]
    D = T[mod((i - 1) * (j + 1), nk) / nk for i in 1:ni, j in 1:nl]
    return D, fill(T(NaN), ni, nj), A, B, C, T(1.5), T(1.2)
end
