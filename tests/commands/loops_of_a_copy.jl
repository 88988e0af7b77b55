# The order of two loops, and how they run.
#! target c
#! sizes B=m,n A=m,n
using Tessella

@tessella function loops_of_a_copy!(B::Matrix{Float64}, A::Matrix{Float64})
    for i in 1:size(A, 1), j in 1:size(A, 2)
        @comp S B[i, j] = 2 * A[i, j] + 1
    end
    return nothing
end

@schedule loops_of_a_copy! begin
    interchange(S, i, j)
    reverse(S, j)
    split(S, i, 6)
    unroll(S, i1, 3)
    parallel(S, j)
end

loops_of_a_copy_inputs(::Type{T}, n) where {T} = zeros(T, n, n + 2), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2]
