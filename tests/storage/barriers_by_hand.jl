# A barrier that only costs time, after each tile of the sum.
#! target cuda
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function barriers_by_hand!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(C)
    p = size(A, 2)
    for j in 1:n, i in 1:m, k in 1:p
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule barriers_by_hand! begin
    tile(S, (j, i, k), (4, 4, 4))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, k0)
    synchronize(S, k0)
end

function barriers_by_hand_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7k, 19) / 19 for i in 1:n+1, k in 1:n]
    B = T[mod(5k + 2j, 13) / 13 for k in 1:n, j in 1:n+2]
    return zeros(T, n + 1, n + 2), A, B
end
