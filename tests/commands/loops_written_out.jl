# The whole order as loops.
#! target c
#! sizes B=m,n A=m,n
using Tessella

@tessella function loops_written_out!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @comp S B[i, j] = 2 * A[i, j] + 1
    end
    return nothing
end

@schedule loops_written_out! begin
    for j = j
        for i = i
            S
        end
    end
end

loops_written_out_inputs(::Type{T}, n) where {T} = zeros(T, n, n + 2), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2]
