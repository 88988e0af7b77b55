# G = (A B) (C D), with the two products kept in E and F
using Tessella

@tessella function kernel_3mm!(G, E, F, A, B, C, D)
    ni, nk = size(A)
    nj, nl = size(F)
    nm = size(C, 2)
    for j in 1:nj, i in 1:ni
        E[i, j] = 0
        for k in 1:nk
            E[i, j] += A[i, k] * B[k, j]
        end
    end
    for l in 1:nl, j in 1:nj
        F[j, l] = 0
        for m in 1:nm
            F[j, l] += C[j, m] * D[m, l]
        end
    end
    for l in 1:nl, i in 1:ni
        G[i, l] = 0
        for j in 1:nj
            G[i, l] += E[i, j] * F[j, l]
        end
    end
    return G
end

function mm3_inputs(::Type{T}, ni, nj, nk, nl, nm) where {T}
    A = T[mod((i - 1) * (j - 1) + 1, ni) / 5ni for i in 1:ni, j in 1:nk]
    B = T[mod((i - 1) * j + 2, nj) / 5nj for i in 1:nk, j in 1:nj]
    C = T[mod((i - 1) * (j + 2), nl) / 5nl for i in 1:nj, j in 1:nm]
    D = T[mod((i - 1) * (j + 1) + 2, nk) / 5nk for i in 1:nm, j in 1:nl]
    return fill(T(NaN), ni, nl), fill(T(NaN), ni, nj), fill(T(NaN), nj, nl), A, B, C, D
end
