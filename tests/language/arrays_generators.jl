# Reductions of generators: filtered ones, and loops in loops.

@tessella filtered_sum(A) = sum(x for x in A if x > 0)
case(filtered_sum, (T, n) -> (values_of(T, n),))
case(filtered_sum, (T, n) -> (fill(T(-1), n),))

@tessella filtered_zeros(A) = (sum(x for x in A if x == 0), sum(abs(x) for x in A if x > 2), sum(x for x in A if x > 2))
case(filtered_zeros, (T, n) -> (fill(T(-0.0), n),))
case(filtered_zeros, (T, n) -> (values_of(T, n),))

@tessella filtered_narrow(A) = (sum(x for x in A if x > 3), reduce(+, x for x in A if x > 3), prod(x for x in A if isodd(x)))
case(filtered_narrow, (T, n) -> (values_of(T, n),); types = DataType[Int8, UInt8, Int32, Int64])

@tessella filtered_from(A) = (
    reduce(+, (2x for x in A if x > 0); init = zero(eltype(A))),
    reduce(max, (x * x for x in A if x < 0); init = typemin(eltype(A))),
    reduce(min, (x for x in A if 0.5 < x < 0.9); init = typemax(eltype(A))),
    reduce(*, (x for x in A if x != 0); init = one(eltype(A))),
)
case(filtered_from, (T, n) -> (values_of(T, n),))

@tessella filtered_pairs(A, w) = reduce(+, (w[i] * A[i, j] for i in axes(A, 1), j in axes(A, 2) if i <= j); init = zero(eltype(A)))
case(filtered_pairs, (T, n) -> (values_of(T, n, 5), values_of(T, n)))

@tessella filtered_logical(A) = (
    count(x > y for x in A for y in (0.5, -0.5)),
    any(x > 2 for x in A for k in 1:2 if k > 1),
    all(x < y for x in A for y in A if y > x),
)
case(filtered_logical, (T, n) -> (values_of(T, n),))

@tessella nested_sum(A) = sum(A[i, j] for i in 1:size(A, 1) for j in 1:size(A, 2))
case(nested_sum, (T, n) -> (values_of(T, n, 3),))

@tessella nested_triangle(A) = sum(A[i, j] * i for i in 1:size(A, 1) for j in i:size(A, 2))
case(nested_triangle, (T, n) -> (values_of(T, n, 3),))

@tessella nested_lower(A) = sum(A[i, j] for i in 1:size(A, 1) for j in 1:i-1)
case(nested_lower, (T, n) -> (values_of(T, n, n),))

@tessella nested_extremes(A) = (maximum(A[i, j] for i in axes(A, 1) for j in axes(A, 2)), minimum(-A[i, j] for j in axes(A, 2) for i in axes(A, 1)))
case(nested_extremes, (T, n) -> (values_of(T, n, 3),))
case(nested_extremes, (T, n) -> (values_of(T, n, 3),); types = DataType[Int16, UInt8])

@tessella function nested_each!(y, A)
    for k in eachindex(y)
        y[k] = reduce(+, (A[i] * A[j] for i in 1:k for j in 1:i if i != j); init = zero(eltype(A)))
        y[k] += sum(A[i] for i in 1:k for j in i:k)
    end
    return nothing
end
case(nested_each!, (T, n) -> (zeros(T, n), values_of(T, n)))

# Constants of a copy of the loop's body are none outside of it.
@tessella nested_tuple(A) = [sum(a * w for w in (0.5, -0.25) for v in 1:2) + a for a in A]
case(nested_tuple, (T, n) -> (values_of(T, n),))

# Data decide whether there is anything to reduce: where there is nothing, Julia raises.
@tessella filtered_doubles(A) = sum(2x for x in A if x > 0.5)
case(filtered_doubles, (T, n) -> (values_of(T, n),))
case(filtered_doubles, (T, n) -> (fill(T(0.25), n),))

@tessella filtered_by_places(A, n) = sum(A[i] for i in 1:n if A[i] > 0)
case(filtered_by_places, (T, n) -> (values_of(T, n), n))
case(filtered_by_places, (T, n) -> (values_of(T, n), n + 1))
case(filtered_by_places, (T, n) -> (fill(T(-1), n), n))

@tessella function filtered_extremes!(A)
    A .= 2 .* A
    return maximum(x for x in A if x < 0), minimum(x for x in A if x > 0), extrema(abs2(x) for x in A if x != 0)
end
case(filtered_extremes!, (T, n) -> (values_of(T, n),))
case(filtered_extremes!, (T, n) -> (fill(T(1), n),))

# In a loop, where some columns have no such element.
@tessella function filtered_columns!(y, A)
    for j in axes(A, 2)
        if y[j] > 0
            y[j] = maximum(A[i, j] for i in axes(A, 1) if A[i, j] > y[j])
        end
    end
end
case(filtered_columns!, (T, n) -> (fill(T(0.25), n), values_of(T, 7, n)))
case(filtered_columns!, (T, n) -> (fill(T(2), n), values_of(T, 7, n)))
case(filtered_columns!, (T, n) -> (fill(T(-2), n), values_of(T, 7, n)))

@tessella read_ranges(A, p) = sum(2A[i] for k in p for i in k:length(A))
case(read_ranges, (T, n) -> (values_of(T, n), [n, 1]))
case(read_ranges, (T, n) -> (values_of(T, n), [n + 1, n + 1]))
case(read_ranges, (T, n) -> (values_of(T, n), [n, 0]))
