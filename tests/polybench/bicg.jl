# s = Aᵀ r and q = A p, in one sweep over A
using Tessella

@tessella function kernel_bicg!(s, q, A, p, r)
    n, m = size(A)
    for i in 1:n
        q[i] = 0
    end
    for j in 1:m
        s[j] = 0
        for i in 1:n
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
        end
    end
end

function bicg_inputs(::Type{T}, m, n) where {T}
    A = T[mod((i - 1) * j, n) / n for i in 1:n, j in 1:m]
    p = T[mod(i - 1, m) / m for i in 1:m]
    r = T[mod(i - 1, n) / n for i in 1:n]
    return fill(T(NaN), m), fill(T(NaN), n), A, p, r
end
