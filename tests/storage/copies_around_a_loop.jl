# The field goes to the GPU before all steps and comes back after them, also where there is none.
#! target cuda
#! sizes A=m,n B=m,n steps=p
using Tessella

@tessella function copies_around_a_loop!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int64)
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

@schedule copies_around_a_loop! begin
    tile(S, (j, i), (4, 8)); gpu(S, (j0, i0), (j1, i1))
    tile(R, (j, i), (4, 8)); gpu(R, (j0, i0), (j1, i1))
    copy_in(A, t; once=true)
    copy_out(A, t; once=true)
    copy_out(B, t; once=true)
end

function copies_around_a_loop_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 19) / 19 for i in 1:n+1, j in 1:n]
    return A, zero(A), mod(n, 3)
end
