# Rows jammed into columns, and vectors along them.
#! target c
#! sizes C=m,n A=m,p B=p,n
using Tessella

@tessella function vectors_of_a_product!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    for j in 1:size(C, 2), k in 1:size(A, 2), i in 1:size(C, 1)
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end

@schedule vectors_of_a_product! begin
    unroll_and_jam(S, j, 4)
    vectorize(S, i, 4)
end

vectors_of_a_product_inputs(::Type{T}, n) where {T} = zeros(T, n, n + 1), T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:3], T[mod(i + 7j, 5) / 2 for i in 1:3, j in 1:n+1]
