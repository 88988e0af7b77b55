# A tensor times the Khatri-Rao product of two matrices: the core of sparse and dense CP decompositions
using Tessella

@tessella function mttkrp!(A, B, C, D)
    m, p, q = size(B)
    for r in 1:size(A, 2), l in 1:q, k in 1:p, i in 1:m
        A[i, r] += B[i, k, l] * C[k, r] * D[l, r]
    end
    return A
end

function mttkrp_inputs(::Type{T}, n) where {T}
    p, q, ranks = n, min(n, 20), min(n, 8)
    B = T[mod(i + 3k + 7l, 17) / 17 - 0.5 for i in 1:n, k in 1:p, l in 1:q]
    C = T[mod(k * r, 5) / 5 for k in 1:p, r in 1:ranks]
    D = T[mod(l + r, 9) / 9 - 0.3 for l in 1:q, r in 1:ranks]
    return zeros(T, n, ranks), B, C, D
end
