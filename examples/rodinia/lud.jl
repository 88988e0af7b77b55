# A matrix becomes its lower and upper triangular factors, in place
using Tessella

@tessella function lud!(A)
    n = size(A, 1)
    for k in 1:n
        for i in k+1:n
            A[i, k] /= A[k, k]
        end
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
    return A
end

lud_inputs(::Type{T}, n) where {T} = (T[i == j ? n : mod(i * j, 7) / 7 for i in 1:n, j in 1:n],)
