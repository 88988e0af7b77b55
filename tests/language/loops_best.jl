# Loops that keep the best value and its place.

# Zeros of both signs, NaN here and there, and numbers that come several times.
function mixed_values(::Type{T}, n) where {T<:AbstractFloat}
    x = values_of(T, n)
    for k in 1:n
        mod(k, 5) == 0 && (x[k] = -zero(T))
        mod(k, 7) == 3 && (x[k] = zero(T))
        mod(k, 11) == 6 && (x[k] = T(NaN))
    end
    return x
end
mixed_values(::Type{T}, n) where {T<:Integer} = values_of(T, n)

with_integers = [Float32, Float64, Int64, Int8]

@tessella function best_value(x, start)
    best = start
    for i in eachindex(x)
        if x[i] > best
            best = x[i]
        end
    end
    return best
end

case(best_value, (T, n) -> (mixed_values(T, n), typemin(T)); types = with_integers)
case(best_value, (T, n) -> (-abs.(mixed_values(T, n)), -zero(T)); types = with_integers)
case(best_value, (T, n) -> (mixed_values(T, n), T(NaN)))

@tessella function best_first(x, start)
    best, at = start, 0
    for i in eachindex(x)
        if x[i] > best
            best = x[i]
            at = i
        end
    end
    return best, at
end

case(best_first, (T, n) -> (mixed_values(T, n), typemin(T)); types = with_integers)
case(best_first, (T, n) -> (-abs.(mixed_values(T, n)), -one(T) / 2))
case(best_first, (T, n) -> (fill(-zero(T), n), -one(T)))

@tessella function best_last(x, start)
    best, at = start, 0
    for i in eachindex(x)
        if best >= x[i]
            at = 2i + 1
            best = x[i]
        end
    end
    return best, at
end

case(best_last, (T, n) -> (mixed_values(T, n), typemax(T)); types = with_integers)
case(best_last, (T, n) -> (abs.(mixed_values(T, n)), zero(T)))

@tessella function best_backwards(x)
    best, at = zero(eltype(x)), -1
    for i in length(x):-2:1
        value = x[i] * x[i]
        if value >= best
            best = value
            at = i
        end
    end
    return best, at
end

case(best_backwards, (T, n) -> (mixed_values(T, n),))

# Among those that something else lets through.
@tessella function best_allowed(x, y, limit)
    best, at = -one(eltype(x)), 0
    for i in 2:length(x)
        if i < length(x) && y[i+1] < limit && x[i] + x[i-1] > best
            best = x[i] + x[i-1]
            at = i
        end
    end
    return best, at
end

case(best_allowed, (T, n) -> (mixed_values(T, n), values_of(T, n), T(0.25)))

@tessella function best_of_matrix(A)
    best, row, column = typemax(eltype(A)), 0, 0
    for j in axes(A, 2), i in axes(A, 1)
        if A[i, j] < best
            best = A[i, j]
            row, column = i, j
        end
    end
    return best, row, column
end

case(best_of_matrix, (T, n) -> (reshape(mixed_values(T, 5n), n, 5),); types = with_integers)
case(best_of_matrix, (T, n) -> (reshape(mixed_values(T, 5n), 5, n),); types = with_integers)

@tessella function best_by_rows(A, low)
    best, row, column = low, 0, 0
    for i in 2:size(A, 1)-1, j in 1:size(A, 2)
        if abs(A[i, j] - A[i-1, j]) >= best
            best = abs(A[i, j] - A[i-1, j])
            row, column = i, 10j
        end
    end
    return best, row, column
end

case(best_by_rows, (T, n) -> (reshape(mixed_values(T, 5n), n, 5), zero(T)))

# The largest of a column below the diagonal, of a matrix that each turn changes.
@tessella function best_pivots!(A, p)
    n = size(A, 1)
    for k in 1:n-1
        best, at = abs(A[k, k]), k
        for i in k+1:n
            if abs(A[i, k]) > best
                best = abs(A[i, k])
                at = i
            end
        end
        p[k] = at
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j] / 4
        end
    end
end

case(best_pivots!, (T, n) -> (values_of(T, n, n), zeros(Int, n)))

# Many searches at once.
@tessella function best_of_columns!(at, A)
    for j in axes(A, 2)
        best = A[1, j]
        at[j] = 1
        k = 1
        for i in axes(A, 1)
            if A[i, j] > best
                best = A[i, j]
                k = i
            end
        end
        at[j] = k
    end
end

case(best_of_columns!, (T, n) -> (zeros(Int, 5), values_of(T, n + 1, 5)))

# What a loop reads by its name, whether or not it compares it, is inside of its array or an error.
@tessella function best_outside(x, y)
    best, at = -one(eltype(x)), 0
    for i in eachindex(x)
        other = y[i]
        if x[i] > best
            best = x[i]
            at = i
        end
    end
    return best, at
end

case(best_outside, (T, n) -> (mixed_values(T, n), values_of(T, max(0, n - 1))))

@tessella best_places(x) = (findmax(x), findmin(x), argmax(x), argmin(x))

case(best_places, (T, n) -> (mixed_values(T, n),); types = with_integers)
case(best_places, (T, n) -> (n > 2 ? [T(NaN); values_of(T, n - 1)] : fill(-zero(T), n),))
case(best_places, (T, n) -> ([fill(-zero(T), n); fill(zero(T), n)],))

# A named element that only some iterations compare is inside of its array in all of them, or an error.
@tessella function best_of_either(x, y)
    best, at = -one(eltype(x)), 0
    n = length(x)
    for i in 1:n
        other = y[i+1]
        if (i < n ? other : x[i]) > best
            best = (i < n ? other : x[i])
            at = i
        end
    end
    return best, at
end

case(best_of_either, (T, n) -> (mixed_values(T, n), values_of(T, n)))
case(best_of_either, (T, n) -> (mixed_values(T, n), values_of(T, n + 1)))

# Columns by themselves, which the same loop changes.
@tessella function best_scaled!(A)
    for j in axes(A, 2)
        most = abs(A[1, j])
        for i in axes(A, 1)
            if abs(A[i, j]) > most
                most = abs(A[i, j])
            end
        end
        for i in axes(A, 1)
            A[i, j] = A[i, j] / (1 + most)
        end
    end
end

case(best_scaled!, (T, n) -> (values_of(T, n + 1, 5),))

@tessella function best_in_part(x, p)
    best, at = zero(eltype(x)), 0
    first, last = p[1], p[2]
    for i in first:last
        if x[i] < best
            best = x[i]
            at = i
        end
    end
    return best, at
end

case(best_in_part, (T, n) -> (mixed_values(T, n), [1, n]))

# Values that are one of two loads, of an array that the loop has just stored into and of one that it only reads.
@tessella function best_stored!(r, t, x, y)
    for i in eachindex(x)
        t[i] = 2 * y[i]
        r[i] = (isodd(i) ? t[i] : x[i]) + 1
    end
end

case(best_stored!, (T, n) -> (values_of(T, n), values_of(T, n), values_of(T, n), -values_of(T, n)))

@tessella function best_branches!(r, t, x, y)
    for i in eachindex(x)
        t[i] = 2 * y[i]
        if y[i] > 0
            r[i] = t[i]
        else
            r[i] = x[i]
        end
    end
end

case(best_branches!, (T, n) -> (values_of(T, n), values_of(T, n), values_of(T, n), values_of(T, n) .* -1))

# How far two arrays are apart, in each turn of what brings them together: no place is kept.
@tessella function best_residual!(a, b, turns)
    apart = zero(eltype(a))
    for t in 1:turns
        apart = zero(eltype(a))
        for i in eachindex(a)
            if abs(a[i] - b[i]) > apart
                apart = abs(a[i] - b[i])
            end
        end
        for i in eachindex(a)
            b[i] = (a[i] + b[i]) / 2
        end
    end
    return apart
end

case(best_residual!, (T, n) -> (values_of(T, n), -values_of(T, n), 3))
