# A blur along rows on the CPU: the tile's elements along the second axis are neighbours on the stack.
#! target c
#! sizes B=m,n A=m,n
using Tessella

@tessella function blur_rows!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for i in 1:m, j in 2:n-1
        @comp S B[i, j] = 0.25 * A[i, j-1] + 0.5 * A[i, j] + 0.25 * A[i, j+1]
    end
    return nothing
end

@schedule blur_rows! begin
    tile(S, (i, j), (4, 8))
    cache_shared(A, S, j0; axes=(2, 1))
    pad(A, (1, 0))
end

function blur_rows_inputs(::Type{T}, n) where {T}
    m = n + 3
    return zeros(T, m, n), T[mod(3i + 7j, 11) / 11 - 0.5 for i in 1:m, j in 1:n]
end
