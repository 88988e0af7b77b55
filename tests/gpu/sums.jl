# Reductions that need partial results on a GPU, and sums over matrices whose tiles are copied ahead.
module Sums

using Tessella

@tessella function largest!(out, x, y)
    largest = typemin(eltype(out))
    @simd for i in 1:length(x)
        largest = max(largest, x[i] * y[i])
    end
    out[1] = largest
    return nothing
end

@tessella function total!(out, A)
    m, n = size(A)
    s = zero(eltype(out))
    for j in 1:n, i in 1:m
        s += A[i, j]
    end
    out[1] = s
    return nothing
end

@tessella function rows_and_columns!(rows, columns, A, x, y)
    m, n = size(A)
    for j in 1:n, i in 1:m
        rows[i] += A[i, j] * x[j]
    end
    for j in 1:n, i in 1:m
        columns[j] += y[i] * A[i, j]
    end
    return nothing
end

value(::Type{T}, k) where {T} = T <: Integer ? T(mod(7k, 101) - 50) : T(mod(7k, 101) / 7 - 5.3)

largest_inputs(::Type{T}, n) where {T} = (T[0], T[value(T, i) for i in 1:n], T[value(T, 3i + 1) for i in 1:n])
# Many rows and few columns, or the other way round.
total_inputs(::Type{T}, n) where {T} = (T[0], T[value(T, i + 3j) for i in 1:n, j in 1:5+div(n, 7)])
matrix_inputs(::Type{T}, m, n = m + 3) where {T} =
    (T[value(T, i) for i in 1:m], T[value(T, j) for j in 1:n], T[value(T, i + 3j) for i in 1:m, j in 1:n],
     T[value(T, 2j) for j in 1:n], T[value(T, 5i) for i in 1:m])

# Around a warp, a tile of 64 elements, and the numbers of partial results.
const LENGTHS = [0, 1, 2, 31, 32, 33, 127, 255, 256, 257, 8191, 8192, 8193, 262143, 262145, 1000003]
const EXTENTS = [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 257, 511]

end
