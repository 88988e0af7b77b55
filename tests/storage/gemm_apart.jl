# C += A B: each thread sums 2×2 elements in registers, four columns and two rows apart.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function gemm_apart!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, p = size(A)
    n = size(B, 2)
    for j in 1:n, i in 1:m, k in 1:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule gemm_apart! begin
    cache_register(C, S, i0)
    tile(S, (j, i), (4, 8))
    split(S, j1, 2)
    split(S, i1, 4)
    interchange(S, j10, j11)
    interchange(S, j10, i11)
    interchange(S, i10, k)
    gpu(S, (j0, i0), (j11, i11))
    unroll(S, j10, 2)
    unroll(S, i10, 2)
end

function gemm_apart_inputs(::Type{T}, n) where {T}
    m, p = n + 3, n + 1
    return T[mod(i * j, 7) / 7 for i in 1:m, j in 1:n], T[mod(3i + k, 11) / 11 - 0.5 for i in 1:m, k in 1:p],
           T[mod(i + 5j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
end
