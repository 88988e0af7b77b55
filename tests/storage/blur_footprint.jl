# A blur along rows: a block has a thread for each element of its tile and of what lies beside it. Those of the tile compute.
#! target cuda
#! sizes out=m,n A=m,n
using Tessella

@tessella function blur_footprint!(out::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    for j in 1:n-2, i in 1:m
        @comp S out[i, j] = (A[i, j] + A[i, j+1] + A[i, j+2]) / 3
    end
    return nothing
end

@schedule blur_footprint! begin
    tile(S, (j, i), (8, 32))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, i0; threads=:footprint)
end

function blur_footprint_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 11) / 11 - 0.5 for i in 1:n+3, j in 1:n]
    return zero(A), A
end
