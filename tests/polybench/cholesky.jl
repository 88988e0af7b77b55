# A = L Lᵀ for a symmetric positive definite A; L takes the place of A's lower triangle
using Tessella

@tessella function kernel_cholesky!(A)
    n = size(A, 1)
    for i in 1:n
        for j in 1:i-1
            for k in 1:j-1
                A[i, j] -= A[i, k] * A[j, k]
            end
            A[i, j] /= A[j, j]
        end
        for k in 1:i-1
            A[i, i] -= A[i, k] * A[i, k]
        end
        A[i, i] = sqrt(A[i, i])
    end
    return A
end

cholesky_inputs(::Type{T}, n) where {T} = (positive_definite(T, n),)
