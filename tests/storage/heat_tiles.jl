# One step in a tile with its halo in shared memory.
#! target cuda
#! sizes A=m,n B=m,n steps=s
using Tessella

@tessella function heat_tiles!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end

@schedule heat_tiles! begin
    tile(S, (j, i), (4, 8))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, i0)
    tile(R, (j, i), (4, 8))
    gpu(R, (j0, i0), (j1, i1))
end

function heat_tiles_inputs(::Type{T}, n) where {T}
    A = T[mod(i * j, 7) / 7 for i in 1:n+2, j in 1:n]
    return A, copy(A), 3
end
