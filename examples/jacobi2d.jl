# Jacobi's method on a square grid, five points, two half steps a time step
using Tessella

@tessella function jacobi2d!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            B[i, j] = 0.2 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            A[i, j] = 0.2 * (B[i, j] + B[i-1, j] + B[i+1, j] + B[i, j-1] + B[i, j+1])
        end
    end
end

function jacobi2d_inputs(::Type{T}, n) where {T}
    A = T[(i * (j + 1) + 2) / (n + 1) for i in 1:n, j in 1:n]
    return A, copy(A), 7
end
