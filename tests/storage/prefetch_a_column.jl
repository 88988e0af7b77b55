# What later iterations read is asked for ahead, where it is inside of the array.
#! target c
#! sizes y=m A=m,n x=n
using Tessella

@tessella function prefetch_a_column!(y::Vector{Float64}, A::Matrix{Float64}, x::Vector{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        @comp S y[i] += A[i, j] * x[j]
    end
    return nothing
end

@schedule prefetch_a_column! begin
    split(S, i, 4)
    prefetch(A, S, j, 8)
    prefetch(A, S, i0, 1)
end

function prefetch_a_column_inputs(::Type{T}, n) where {T}
    A = T[mod(3i + 7j, 19) / 19 for i in 1:n+1, j in 1:n]
    return zeros(T, n + 1), A, T[mod(5j, 7) / 3 for j in 1:n]
end
