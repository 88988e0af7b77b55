# A command, and what is left to Tessella.
#! target c
#! sizes B=m,n A=m,n
using Tessella

@tessella function tessellas_choice!(B::Matrix{Float64}, A::Matrix{Float64})
    for i in 1:size(A, 1), j in 1:size(A, 2)
        @comp S B[i, j] = 2 * A[i, j] + 1
    end
    return nothing
end

@schedule tessellas_choice! begin
    auto()
end

tessellas_choice_inputs(::Type{T}, n) where {T} = zeros(T, n, n + 2), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2]
