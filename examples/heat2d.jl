# Heat spreads over a plate: the mean of the four neighbours, step after step; the rim keeps its temperature
using Tessella

@tessella function heat2d!(A, B, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

function heat2d_inputs(::Type{T}, n) where {T}
    A = T[1 + mod(i * i + 3j, 31) / 31 for i in 1:n, j in 1:n+1]
    return A, copy(A), 6
end
