# A = L U without pivoting, in A's place
using Tessella

@tessella function kernel_lu!(A)
    n = size(A, 1)
    for i in 1:n
        for j in 1:i-1
            for k in 1:j-1
                A[i, j] -= A[i, k] * A[k, j]
            end
            A[i, j] /= A[j, j]
        end
        for j in i:n, k in 1:i-1
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
    return A
end

lu_inputs(::Type{T}, n) where {T} = (positive_definite(T, n),)
