# Gauss and Seidel's method on a square grid, nine points
using Tessella

@tessella function kernel_seidel2d!(A, steps)
    n = size(A, 1)
    for t in 1:steps, j in 2:n-1, i in 2:n-1
        A[i, j] = (A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] + A[i-1, j+1] +
                   A[i, j+1] + A[i+1, j+1]) / 9.0
    end
    return A
end

seidel2d_inputs(::Type{T}, steps, n) where {T} = (T[((i - 1) * (j + 1) + 2) / n for i in 1:n, j in 1:n], steps)
