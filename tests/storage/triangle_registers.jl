# C += A B with an upper triangular A, sums in registers: an element of C takes part in some steps of a tile and in others not, so
# the test of that stays, where that of the last column goes.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function triangle_registers!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, p = size(A)
    n = size(B, 2)
    for j in 1:n, i in 1:m, k in i:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule triangle_registers! begin
    cache_shared(A, S, k0)
    cache_shared(B, S, k0)
    cache_register(C, S, i0)
    tile(S, (j, i, k), (4, 8, 4))
    split(S, j1, 2)
    split(S, i1, 2)
    interchange(S, j11, i10)
    interchange(S, i11, k1)
    interchange(S, j11, k1)
    gpu(S, (j0, i0), (j10, i10))
    unroll(S, i11, 2)
    unroll(S, j11, 2)
end

function triangle_registers_inputs(::Type{T}, n) where {T}
    m, p = n + 2, n + 1
    C = T[mod(i * j, 7) / 7 for i in 1:m, j in 1:n]
    A = T[mod(3i + k, 11) / 11 - 0.5 for i in 1:m, k in 1:p]
    B = T[mod(i + 5j, 13) / 13 - 0.5 for i in 1:p, j in 1:n]
    return C, A, B
end
