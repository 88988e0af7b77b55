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
