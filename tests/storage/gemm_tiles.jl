# C += A B: tiles of A and B in shared memory, sums in registers across the tiles of k.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function gemm_tiles!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, p = size(A)
    n = size(B, 2)
    for j in 1:n, i in 1:m, k in 1:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule gemm_tiles! begin
    tile(S, (j, i, k), (4, 8, 4))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, k0)
    cache_shared(B, S, k0)
    cache_register(C, S, i0)
    pad(A, (1, 0))
end

function gemm_tiles_inputs(::Type{T}, n) where {T}
    m, p = n + 2, n + 1
    C = T[mod(i * j, 7) / 7 for i in 1:m, j in 1:n]
    A = T[mod(3i + k, 11) / 11 - 0.5 for i in 1:m, k in 1:p]
    B = T[mod(i + 5j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
    return C, A, B
end
