# Reductions of tuples: left to right, over values that a function makes of the elements.

const CORNERS = ((0, 1), (2, 3), (-4, 5))
const POWERS_OF_TEN = (1e100, 1.0, -1e100, 1.0)

@tessella function tuple_sums(x)
    a, b, c = x[1], x[2], x[3]
    t = (a, b, c)
    return sum(t), sum((a, 2, c)), sum(v -> v^2, t), sum(abs, (a - b, b - c, c - a)), prod(t), prod(v -> v + 1, (1, a))
end
case(tuple_sums, (T, n) -> (values_of(T, n + 3),))

@tessella function tuple_extremes!(y, x)
    for i in 2:length(x)-1
        y[i] = maximum((x[i-1], x[i], x[i+1])) - minimum((x[i-1], x[i], 1)) + maximum(abs, (x[i], x[i+1] - 1))
    end
    return extrema((y[1], y[2], -0.0, 0.0))
end
case(tuple_extremes!, (T, n) -> (zeros(T, n + 2), values_of(T, n + 2)))

@tessella nothing_numbers(x) = maximum((x[1] / 0, zero(eltype(x)), x[1])), minimum((x[1] - Inf, NaN)), maximum((-0.0, 0.0))
case(nothing_numbers, (T, n) -> (values_of(T, n + 1),))

# The order of the elements decides what is left of them.
@tessella tuple_in_order(x) = sum(POWERS_OF_TEN), sum(v -> v * x, POWERS_OF_TEN), foldl(+, POWERS_OF_TEN), sum(ntuple(k -> x / k, 20))
case(tuple_in_order, (T, n) -> (T(n) / 3,))

# What is not evaluated throws nothing.
@tessella function tuple_tests(x, k)
    n = length(x)
    some = any(i -> i > n || x[i] > 0, (1, 2, n + 1))
    each = all(i -> i <= n && x[i] < 2, (1, k, n + 5))
    found = any(i -> x[i] > -2, (1, k))
    return some, each, found, any((n > 1, n > 2)), all((n > 1, n > 2)), count(v -> v > 1, (n, 2, k)), count((n > 1, true))
end
case(tuple_tests, (T, n) -> (values_of(T, n), n))
case(tuple_tests, (T, n) -> (values_of(T, n), 100))

# Small integers and `Bool`s.
@tessella function tuple_of_small(a::Int8, b::Int8, c::UInt16, d::Bool, e::Int64)
    s = sum(identity, (a, b)), sum(identity, (c, c)), sum(identity, (a, c)), sum(identity, (c, a)), sum(identity, (d, a))
    p = prod(identity, (a, b)), prod(identity, (d, a)), prod(identity, (d, a, b)), prod(identity, (d, d)), prod((d, d))
    r = reduce(+, (a, b)), reduce(*, (a, b)), reduce(max, (a, c)), reduce(+, (d, d)), reduce(&, (a, b)), reduce(|, (d, d))
    return s, p, r, sum((d, d)), sum((d,)), sum((e, d, 0.5)), maximum((a, e)), mapreduce(v -> v + 1, *, (a, b)), sum(Int, (a, b))
end
case(tuple_of_small, (T, n) -> (Int8(100), Int8(27 + n), 0xffff, isodd(n), n); types = [Float64])

@tessella function tuple_of_tuples_reduced!(y)
    for i in eachindex(y)
        y[i] = sum(p -> p[1] * i + p[2], CORNERS)
    end
    return nothing
end

case(tuple_of_tuples_reduced!, (T, n) -> (zeros(T, n),))

neighbours_apart(x, i) = (x[i+1] - x[i], x[i] - x[i-1], 0.5)
@tessella function tuple_of_a_call!(y, x)
    for i in 2:length(x)-1
        y[i] = sum(neighbours_apart(x, i)) + sum(abs2, neighbours_apart(x, i)) + sum((1, 2, 3) .* neighbours_apart(x, i))
    end
    return all(n -> n > 0, size(y)), sum(neighbours_apart(x, 2)[2:3])
end
case(tuple_of_a_call!, (T, n) -> (zeros(T, n + 3), values_of(T, n + 3)))

@tessella named_reduced(x) = (t = (low = x[1], high = x[2]); (sum(t), maximum(t), sum(v -> 2v, t)))
case(named_reduced, (T, n) -> (values_of(T, n + 2),))

@tessella complex_reduced(x) = sum((x[1] + 2im, 1, x[2])), prod((im, x[1] - im)), sum(abs2, (x[1] + im, 2im))
case(complex_reduced, (T, n) -> (values_of(T, n + 2),))

@tessella places_reduced(A) = (I = CartesianIndex(size(A)); (sum(Tuple(I)), A[1, maximum(Tuple(I)) - size(A, 1)]))
case(places_reduced, (T, n) -> (values_of(T, n + 1, n + 2),))
