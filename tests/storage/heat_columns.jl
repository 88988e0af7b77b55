# Copies of the arguments on the GPU with columns that begin at multiples of 32 bytes, and planes of a cube with room in between.
#! target cuda
#! sizes A=m,n B=m,n C=m,p,n,2 steps=s
using Tessella

@tessella function heat_columns!(A::Matrix{Float32}, B::Matrix{Float32}, C::Array{Float32,4}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
    for l in 1:size(C, 4), k in 1:size(C, 3), j in 1:size(C, 2), i in 1:size(C, 1)
        @comp D C[i, j, k, l] = 2f0 * C[i, j, k, l]
    end
    return nothing
end

@schedule heat_columns! begin
    tile(S, (j, i), (4, 8)); gpu(S, (j0, i0), (j1, i1))
    tile(R, (j, i), (4, 8)); gpu(R, (j0, i0), (j1, i1))
    gpu(D, (l, k), (j, i))
    assume(size(C, 1) <= 16); assume(size(C, 2) <= 5)
    pad(A, (0, 0); before=1, multiple=8)
    pad(B, (3, 2))
    pad(C, (1, 2, 1, 0))
end

function heat_columns_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 19) / 19 for i in 1:n+1, j in 1:n]
    C = T[mod(i + 3j + 5k + l, 23) / 23 for i in 1:13, j in 1:5, k in 1:n, l in 1:2]
    return A, zero(A), C, 3
end
