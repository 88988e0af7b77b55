# Reductions. The values are small multiples of a power of two: sums of them are exact in any order.

@tessella function reduce_sum(A)
    return sum(A)
end
case(reduce_sum, (T, n) -> (values_of(T, n, n),); types = [Float32, Float64, Int8, UInt8, Int64])

@tessella function reduce_rows!(b, A)
    for i in 1:size(A, 1)
        b[i] = sum(A[i, :]) - 2maximum(A[i, :])
    end
end
case(reduce_rows!, (T, n) -> (values_of(T, n), values_of(T, n, n + 1)))

@tessella function reduce_generator(x, n)
    return sum(x[i] * i for i in 1:n) + sum(i for i in 1:n)
end
case(reduce_generator, (T, n) -> (values_of(T, n), n))

@tessella function reduce_product(x)
    return prod(x) + prod(2v for v in x)
end
case(reduce_product, (T, n) -> (values_of(T, n),); types = [Float64])

@tessella function reduce_extrema(A)
    return maximum(A) - 3minimum(A)
end
case(reduce_extrema, (T, n) -> (values_of(T, n, n),); types = [Float32, Float64, Int16])

@tessella function reduce_functions(A)
    return sum(abs, A) + sum(x -> x^2, A) + maximum(abs, A)
end
case(reduce_functions, (T, n) -> (values_of(T, n, n),))

@tessella function reduce_dot(x, y)
    return dot(x, y)
end
dot(x, y) = sum(x .* y)
case(reduce_dot, (T, n) -> (values_of(T, n), values_of(T, n)); types = [Float64])

@tessella function reduce_logical(A)
    s = 0
    if any(A .> 0.5)
        s += 1
    end
    if all(x -> x < 2, A)
        s += 2
    end
    return s + 10count(A .< 0)
end
case(reduce_logical, (T, n) -> (values_of(T, n),))

@tessella function reduce_signed_zero(x)
    return sum(x)
end
case(reduce_signed_zero, (T, n) -> (fill(-zero(T), n),))

@tessella function reduce_nested!(C, A, B)
    for j in 1:size(C, 2), i in 1:size(C, 1)
        C[i, j] = sum(A[i, k] * B[k, j] for k in 1:size(A, 2))
    end
end
case(reduce_nested!, (T, n) -> (values_of(T, n, n), values_of(T, n, n + 1), values_of(T, n + 1, n)))

@tessella function reduce_conditional(x, flag)
    s = flag ? sum(x) : zero(eltype(x))
    return s
end
case(reduce_conditional, (T, n) -> (values_of(T, n), n > 2))

@tessella function reduce_two(A)
    return sum(A[i, j] * j for i in 1:size(A, 1), j in 1:size(A, 2))
end
case(reduce_two, (T, n) -> (values_of(T, n, n + 1),))

# Julia knows what the sum of no magnitudes is.
@tessella function reduce_empty_magnitudes(x)
    return sum(abs(a) for a in x) + sum(abs2(a) for a in x), prod(abs2(a) for a in x)
end
case(reduce_empty_magnitudes, (T, n) -> (T.(2 .* values_of(T, n)),); types = [Float32, Float64])

@tessella largest_magnitude(A) = maximum(abs, A), maximum(abs2, A)
case(largest_magnitude, (T, n) -> (values_of(T, n, n) .- 2,))
case(largest_magnitude, (T, n) -> (fill(typemin(T), n),); types = [Int64])

@tessella smallest_magnitude(A) = minimum(abs, A)
case(smallest_magnitude, (T, n) -> (values_of(T, n, n) .- 2,))

# A product of `Bool`s is a `Bool`, a sum of them none.
@tessella function reduce_bools(b)
    p = prod(b)
    return ~p, p, prod(!, b), prod(x for x in b), reduce(*, b), foldl(*, b), sum(b), reduce(+, b), prod(b) * -Inf
end
case(reduce_bools, (T, n) -> ([k != 5 for k in 1:n],); types = [Bool])

@tessella reduce_bools_along(B) = prod(B; dims = 1), reduce(*, B; dims = 2), sum(B; dims = 1), prod(B .| true)
case(reduce_bools_along, (T, n) -> ([(i + j) % 3 != 0 for i in 1:n, j in 1:n+1],); types = [Bool])

@tessella reduce_bool_extremes(b) = maximum(b), minimum(b)
case(reduce_bool_extremes, (T, n) -> ([k % 2 == 0 for k in 1:n],); types = [Bool])

# `sum` widens small integers, `reduce(+, x)` does not.
@tessella reduce_narrow(x, A) = (reduce(+, x), foldl(*, x), mapreduce(abs2, +, A), sum(x), prod(x), reduce(+, A; dims = 1))
case(reduce_narrow, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1, 3)); types = DataType[Int8, Int16, Int32, UInt8, UInt32, Int64])

@tessella reduce_narrow_empty(x) = reduce(+, x), reduce(*, x), sum(x), prod(x)
case(reduce_narrow_empty, (T, n) -> (values_of(T, n),); types = DataType[Int8, UInt16])
case(reduce_narrow_empty, (T, n) -> (fill(true, n),); types = [Bool])

# Of several arrays, place by place.
@tessella function reduced_together(x, y)
    weighed = mapreduce((a, b) -> 2a - b, +, x, y)
    return mapreduce(*, +, x, y), weighed, mapreduce(max, +, x, y; init = 0.5), mapreduce(<, |, x, y; init = false),
        mapreduce((a, b, c) -> a * b + c, max, x, y, x; init = -10.0), mapreduce((a, b) -> abs(a - b), max, x, reverse(y); init = 0.0)
end
case(reduced_together, (T, n) -> (values_of(Float64, n), 3 .* values_of(Float64, n)); types = [Float64])
case(reduced_together, (T, n) -> (values_of(Float64, n), values_of(Float64, n + 1)); types = [Float64])

@tessella reduced_matrices(A, B) = mapreduce((a, b) -> a * b, +, A, B), mapreduce(-, min, A, B)
case(reduced_matrices, (T, n) -> (values_of(T, n + 1, 3), values_of(T, n + 1, 3)))

# `reduce` by an operator has a value of nothing only where Julia knows what the elements are; `any` and `all` have one always.
@tessella conditions_or(x) = reduce(|, v > 0 for v in x)
@tessella conditions_and(x) = mapreduce(v -> v > -2, &, x)
@tessella conditions_left(x) = reduce(&, v < 1 for v in x if v > 2)
@tessella conditions_nested(x) = foldl(|, v > w for v in x for w in x if w > 0)
@tessella conditions_multiplied(x) = prod(v < w for v in x for w in x)
for f in (conditions_or, conditions_and, conditions_left, conditions_nested, conditions_multiplied)
    case(f, (T, n) -> (values_of(T, n),))
end

@tessella function conditions_of_none(x)
    b = x .> 0
    return reduce(|, b), reduce(&, v for v in b if v), reduce(|, abs(v) for v in b if !v), mapreduce(identity, &, b), prod(v for v in b if v),
        any(v > 0 for v in x if v > 2), all(v > 0 for v in x if v > 2), count(v > w for v in x for w in x if v > 2),
        reduce(|, v > 0 for v in x; init = false), mapreduce(<, &, x, x)
end
case(conditions_of_none, (T, n) -> (values_of(T, n),))

# The elements are taken in any order, what computes one of them keeps its own.
@tessella folded_in_sums(w, x) = sum(v -> foldl(+, w) * v, x)
function folded_by_loop(w, v)
    s = zero(v)
    for k in eachindex(w)
        s += w[k] * v
    end
    return s
end
@tessella looped_in_sums(w, x) = sum(v -> folded_by_loop(w, v), x) + prod([folded_by_loop(w, v) for v in x])
@tessella summed_in_sums(w, x) = sum(v -> sum(w[k] * v for k in eachindex(w)), x)
for f in (folded_in_sums, looped_in_sums, summed_in_sums)
    case(f, (T, n) -> ([T(1e16); ones(T, 70); T(-1e16)], T[1]); types = [Float32, Float64])
end

# Sums around the sizes at which partial sums begin, with rests, and in a loop.
@tessella function sums_of_sizes(A, x)
    s = sum(A) - sum(abs2, x) + prod(x .+ 2)
    for j in axes(A, 2)
        s -= sum(view(A, :, j)) / 2
    end
    return s, sum(A, dims = 1), sum(A, dims = 2)
end
for rows in (15, 16, 63, 64, 65, 79, 80, 130)
    case(sums_of_sizes, (T, n) -> (values_of(T, rows, 3), zeros(T, n)); types = [Float64])
end
