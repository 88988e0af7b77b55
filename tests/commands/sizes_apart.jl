# Code of its own for some sizes, and sizes that are excluded.
#! target c
#! sizes B=n A=n
using Tessella

@tessella function sizes_apart!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S B[i] = 2 * A[i]
    end
    return nothing
end

@schedule sizes_apart! begin
    assume(n >= 0)
    specialize(n == 5)
    vectorize(S, i, 4)
end

sizes_apart_inputs(::Type{T}, n) where {T} = zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
