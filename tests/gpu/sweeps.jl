# One step of a stencil from one matrix to another: memory binds, and nothing is left to tilings of time.
module Sweeps

using Tessella

const EXTENTS = [0, 1, 2, 17, 64, 129, 257]

@tessella function heat2d_step!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = A[i, j] + 0.125f0 * (A[i-1, j] - 2f0 * A[i, j] + A[i+1, j]) + 0.125f0 * (A[i, j-1] - 2f0 * A[i, j] + A[i, j+1])
    end
end

@tessella function jacobi2d_step!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
end

matrices(::Type{T}, n) where {T} = zeros(T, n, n + 3), T[mod(i * i + 3j, 31) / 31 for i in 1:n, j in 1:n+3]

end
