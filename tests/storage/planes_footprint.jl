# Blocks go through planes: in each, a thread loads each element of the tile and of its edges, and those of the tile compute.
#! target cuda
#! sizes B=m,n,p A=m,n,p
using Tessella

@tessella function planes_footprint!(B::Array{Float64,3}, A::Array{Float64,3})
    m, n, p = size(A)
    for j in 2:n-1, i in 2:m-1, k in 1:p
        @comp S B[i, j, k] = 0.25 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k])
    end
    return nothing
end

@schedule planes_footprint! begin
    tile(S, (j, i), (6, 14))
    interchange(S, i1, k)
    interchange(S, j1, k)
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, k; threads=:footprint)
end

function planes_footprint_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j + 5k, 11) / 11 - 0.5 for i in 1:n+3, j in 1:n, k in 1:4]
    return zero(A), A
end
