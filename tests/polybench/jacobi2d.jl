# Jacobi's method on a square grid, five points, two half steps a time step
using Tessella

@tessella function kernel_jacobi2d!(A, B, steps)
    n = size(A, 1)
    for t in 1:steps
        for j in 2:n-1, i in 2:n-1
            B[i, j] = 0.2 * (A[i, j] + A[i, j-1] + A[i, j+1] + A[i+1, j] + A[i-1, j])
        end
        for j in 2:n-1, i in 2:n-1
            A[i, j] = 0.2 * (B[i, j] + B[i, j-1] + B[i, j+1] + B[i+1, j] + B[i-1, j])
        end
    end
    return A
end

function jacobi2d_inputs(::Type{T}, steps, n) where {T}
    A = T[((i - 1) * (j + 1) + 2) / n for i in 1:n, j in 1:n]
    B = T[((i - 1) * (j + 2) + 3) / n for i in 1:n, j in 1:n]
    return A, B, steps
end
