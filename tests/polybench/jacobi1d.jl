# Jacobi's method on a line, three points, two half steps a time step
using Tessella

@tessella function kernel_jacobi1d!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1])
        end
        for i in 2:n-1
            A[i] = 0.33333 * (B[i-1] + B[i] + B[i+1])
        end
    end
    return A
end

jacobi1d_inputs(::Type{T}, steps, n) where {T} = (T[(i + 1) / n for i in 1:n], T[(i + 2) / n for i in 1:n], steps)
