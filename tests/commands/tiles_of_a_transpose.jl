# Tiles, full ones apart from partial ones, their points one loop.
#! target c
#! sizes B=n,m A=m,n
using Tessella

@tessella function tiles_of_a_transpose!(B::Matrix{Float64}, A::Matrix{Float64})
    for j in 1:size(A, 2), i in 1:size(A, 1)
        @comp S B[j, i] = A[i, j]
    end
    return nothing
end

@schedule tiles_of_a_transpose! begin
    tile(S, (j, i), (4, 8))
    separate(S, (j0, i0))
    collapse(S, j1, i1)
    parallel(S, j0)
end

tiles_of_a_transpose_inputs(::Type{T}, n) where {T} = zeros(T, n + 2, n), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2]
