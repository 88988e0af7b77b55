# The two products of a step of the biconjugate gradient method: s = Aᵀ r and q = A p
using Tessella

@tessella function bicg!(s, q, A, p, r)
    m, n = size(A)
    for j in 1:n
        s[j] = 0
        for i in 1:m
            s[j] += r[i] * A[i, j]
        end
    end
    for i in 1:m
        q[i] = 0
    end
    for j in 1:n, i in 1:m
        q[i] += A[i, j] * p[j]
    end
end

function bicg_inputs(::Type{T}, n) where {T}
    m = n + 2
    A = T[mod(i * (j + 1), 17) / 17 - 0.5 for i in 1:m, j in 1:n]
    p = T[mod(3j, 7) / 7 for j in 1:n]
    r = T[mod(5i, 11) / 11 for i in 1:m]
    return fill(T(NaN), n), fill(T(NaN), m), A, p, r
end
