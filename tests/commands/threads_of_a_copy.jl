# Blocks and threads of a GPU.
#! target cuda
#! sizes B=m,n A=m,n
using Tessella

@tessella function threads_of_a_copy!(B::Matrix{Float64}, A::Matrix{Float64})
    for j in 1:size(A, 2), i in 1:size(A, 1)
        @comp S B[i, j] = 2 * A[i, j] + 1
    end
    return nothing
end

@schedule threads_of_a_copy! begin
    tile(S, (j, i), (2, 8))
    gpu(S, (i0, j0), (i1, j1))
end

threads_of_a_copy_inputs(::Type{T}, n) where {T} = zeros(T, n, n + 2), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2]
