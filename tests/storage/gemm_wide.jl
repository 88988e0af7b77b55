# Tiles of a product that take more shared memory than a kernel may declare: the launch gives it.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function gemm_wide!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(C)
    p = size(A, 2)
    for j in 1:n, i in 1:m, k in 1:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule gemm_wide! begin
    tile(S, (j, i, k), (32, 16, 160))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, k0)
    cache_shared(B, S, k0)
    cache_register(C, S, i0)
    pad(B, (1, 0))
end

function gemm_wide_inputs(::Type{T}, n) where {T}
    m, p = n + 3, 2n + 1
    C = T[mod(i + j, 5) / 5 for i in 1:m, j in 1:n]
    A = T[mod(3i + 7j, 11) / 11 - 0.5 for i in 1:m, j in 1:p]
    B = T[mod(5i + 2j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
    return C, A, B
end
