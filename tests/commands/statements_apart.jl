# The statements of a loop, each with a loop of its own.
#! target c
#! sizes C=n B=n A=n
using Tessella

@tessella function statements_apart!(C::Vector{Float64}, B::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(A)
        @comp R B[i] = 2 * A[i]
        @comp S C[i] = B[i] + 1
    end
    return nothing
end

@schedule statements_apart! begin
    distribute(S, i)
    vectorize(R, i, 4)
end

statements_apart_inputs(::Type{T}, n) where {T} = zeros(T, n), zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
