# A statement that runs before another one, though it stands after it.
#! target c
#! sizes C=n B=n A=n
using Tessella

@tessella function statements_swapped!(C::Vector{Float64}, B::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(A)
        @comp R B[i] = 2 * A[i]
    end
    for i in 1:length(A)
        @comp S C[i] = A[i] + 1
    end
    return nothing
end

@schedule statements_swapped! begin
    before(S, R, i)
end

statements_swapped_inputs(::Type{T}, n) where {T} = zeros(T, n), zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
