# Heat spreads in a cube: seven points, two half steps a time step
using Tessella

@tessella function kernel_heat3d!(A, B, steps)
    n = size(A, 1)
    for t in 1:steps
        for k in 2:n-1, j in 2:n-1, i in 2:n-1
            B[i, j, k] = 0.125 * (A[i+1, j, k] - 2.0 * A[i, j, k] + A[i-1, j, k]) +
                         0.125 * (A[i, j+1, k] - 2.0 * A[i, j, k] + A[i, j-1, k]) +
                         0.125 * (A[i, j, k+1] - 2.0 * A[i, j, k] + A[i, j, k-1]) + A[i, j, k]
        end
        for k in 2:n-1, j in 2:n-1, i in 2:n-1
            A[i, j, k] = 0.125 * (B[i+1, j, k] - 2.0 * B[i, j, k] + B[i-1, j, k]) +
                         0.125 * (B[i, j+1, k] - 2.0 * B[i, j, k] + B[i, j-1, k]) +
                         0.125 * (B[i, j, k+1] - 2.0 * B[i, j, k] + B[i, j, k-1]) + B[i, j, k]
        end
    end
    return A
end

function heat3d_inputs(::Type{T}, steps, n) where {T}
    # PolyBench starts from a plane, where no heat flows and every result would be right.
    A = T[(i + j - 2 + mod(i * j * k, 7) + n - (k - 1)) * 10 / n for i in 1:n, j in 1:n, k in 1:n]
    return A, copy(A), steps
end
