# All steps of a stencil in one kernel, whose blocks keep their tiles in shared memory; larger matrices are refused.
#! target cuda
#! sizes A=m,n B=m,n steps=s
using Tessella

@tessella function heat_in_tiles!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end

@schedule heat_in_tiles! begin
    grid_sync(S, t, 2, 1, 4, 2)
end

heat_in_tiles_inputs(::Type{T}, n) where {T} = T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2], zeros(T, n, n + 2), 5
