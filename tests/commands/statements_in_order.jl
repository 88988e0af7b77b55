# Where statements run: one after another, one before, one between.
#! target c
#! sizes D=n C=n B=n A=n
using Tessella

@tessella function statements_in_order!(D::Vector{Float64}, C::Vector{Float64}, B::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(A)
        @comp P B[i] = 2 * A[i]
    end
    for i in 1:length(A)
        @comp Q C[i] = A[i] + 1
    end
    for i in 1:length(A)
        @comp R D[i] = B[i] * 3
    end
    return nothing
end

@schedule statements_in_order! begin
    after(R, P, i)
    between(Q, P, i, R, i)
end

statements_in_order_inputs(::Type{T}, n) where {T} = zeros(T, n), zeros(T, n), zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
