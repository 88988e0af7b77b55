# Three steps a launch: tiles compute what they need of their neighbours themselves, in shared memory.
#! target cuda
#! sizes A=m,n B=m,n steps=s
using Tessella

@tessella function heat_overlapped!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
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

@schedule heat_overlapped! begin
    overlapped(S, t, (j, i), 2, (3, 4))
end

function heat_overlapped_inputs(::Type{T}, n) where {T}
    A = T[mod(i * j, 7) / 7 for i in 1:n+2, j in 1:n]
    return A, copy(A), 3
end
