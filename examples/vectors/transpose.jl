# Rows to columns
using Tessella

@tessella function transpose!(B, A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[j, i] = A[i, j]
    end
    return B
end

transpose_inputs(::Type{T}, n, m = n + 1) where {T} = (fill(T(-1), n, m), T[i + 1000j for i in 1:m, j in 1:n])
