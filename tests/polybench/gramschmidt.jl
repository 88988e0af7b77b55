# A = Q R with orthonormal columns of Q, by the modified Gram-Schmidt process
using Tessella

@tessella function kernel_gramschmidt!(A, R, Q)
    m, n = size(A)
    for k in 1:n
        norm = zero(eltype(A))
        for i in 1:m
            norm += A[i, k] * A[i, k]
        end
        R[k, k] = sqrt(norm)
        for i in 1:m
            Q[i, k] = A[i, k] / R[k, k]
        end
        for j in k+1:n
            R[k, j] = 0
            for i in 1:m
                R[k, j] += Q[i, k] * A[i, j]
            end
            for i in 1:m
                A[i, j] -= Q[i, k] * R[k, j]
            end
        end
    end
end

function gramschmidt_inputs(::Type{T}, m, n) where {T}
    A = T[100 * mod((i - 1) * (j - 1), m) / m + 10 for i in 1:m, j in 1:n]
    return A, zeros(T, n, n), zeros(T, m, n)
end
