# The rows that a tile needs, on the stack, in parallel tiles; every second element of a line is unused.
#! target c
#! sizes A=m,n B=m,n
using Tessella

@tessella function blur_tiles!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
    return nothing
end

@schedule blur_tiles! begin
    tile(S, (j, i), (4, 8))
    parallel(S, j0)
    cache_shared(A, S, i0)
    cache_register(B, S, i0)
    pad(A, (3, 0))
end

function blur_tiles_inputs(::Type{T}, n) where {T}
    A = T[mod(i * j, 7) / 7 for i in 1:n+3, j in 1:n]
    return zero(A), A
end
