# Each block computes the values of the first stage that its tile needs, in shared memory.
#! target cuda
#! sizes B=m,n A=m,n
using Tessella

@tessella function blur_compute_at!(B::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    T = similar(A)
    for j in 1:n, i in 2:m-1
        @comp R T[i, j] = (A[i-1, j] + A[i, j] + A[i+1, j]) / 3.0f0
    end
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = (T[i, j-1] + T[i, j] + T[i, j+1]) / 3.0f0
    end
    return nothing
end

@schedule blur_compute_at! begin
    tile(S, (j, i), (4, 8))
    gpu(S, (j0, i0), (j1, i1))
    compute_at(R, S, i0)
end

function blur_compute_at_inputs(::Type{T}, n) where {T}
    A = T[mod(3 * i + j * j, 11) / 11 for i in 1:n+2, j in 1:n]
    return zeros(T, n + 2, n), A
end
