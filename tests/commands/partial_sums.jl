# Partial results of a sum of integers, whose order is free.
#! target c
#! sizes y=m A=m,n
using Tessella

@tessella function partial_sums!(y::Vector{Int64}, A::Matrix{Int64})
    for i in 1:size(A, 1), k in 1:size(A, 2)
        @comp S y[i] += A[i, k]
    end
    return nothing
end

@schedule partial_sums! begin
    rfactor(S, k, 4)
end

partial_sums_inputs(::Type{T}, n) where {T} = zeros(T, n), T[3i + 5j for i in 1:n, j in 1:n+2]
