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

# Sweeps until nothing changes much: the largest change in each iteration.
@tessella function converge!(u, v, tol, most)
    m, n = size(u)
    change = Inf
    it = 0
    while change > tol && it < most
        change = 0.0
        for j in 2:n-1, i in 2:m-1
            v[i, j] = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1]) / 4
        end
        for j in 2:n-1, i in 2:m-1
            change = max(change, abs(v[i, j] - u[i, j]))
            u[i, j] = v[i, j]
        end
        it += 1
    end
    return it
end

converge_inputs(T, n) = (rand(T, n, n + 1), zeros(T, n, n + 1), 1.0e-3, 20)

# Two sums in each step of time.
@tessella function norms!(u, r)
    for t in axes(r, 1)
        s = zero(eltype(u))
        q = zero(eltype(u))
        for i in eachindex(u)
            s += u[i]
            q += u[i] * u[i]
        end
        r[t, 1] = s
        r[t, 2] = q
        for i in eachindex(u)
            u[i] += s
        end
    end
end

norms_inputs(T, n) = (rand(T, n), zeros(T, 12, 2))

@tessella function space_extremes(x)
    least, most = x[1, 1, 1], x[1, 1, 1]
    for k in axes(x, 3), j in axes(x, 2), i in axes(x, 1)
        least = min(least, x[i, j, k])
        most = max(most, x[i, j, k])
    end
    return least, most
end

space_inputs(T, n) = (randn(T, n, n ÷ 2 + 1, n ÷ 3 + 1),)

# Counts of what meets a condition, and least values, at places that are data.
@tessella function histogram!(h, least, x, idx)
    for i in eachindex(x)
        if x[i] > 0
            h[idx[i]] += one(eltype(h))
        end
        least[idx[i]] = min(least[idx[i]], x[i])
    end
end

histogram_inputs(T, n) = (zeros(T, n ÷ 16 + 1), fill(typemax(T), n ÷ 16 + 1), rand(T(-9):T(9), n), rand(1:(n ÷ 16 + 1), n))

@tessella function masked!(u, v)
    for j in axes(u, 2), i in axes(u, 1)
        if v[i, j] > 0
            u[i, j] = v[i, j] / 2
        end
    end
end

masked_inputs(T, n) = (zeros(T, n, n + 3), randn(T, n, n + 3))

end
