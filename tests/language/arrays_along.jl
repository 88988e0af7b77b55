# Reductions along some axes, with first values, of several arrays, and of generators with conditions.

@tessella along_rows(A) = sum(A, dims = 2)
@tessella along_columns(A) = sum(A; dims = 1)
@tessella along_both(A) = sum(A; dims = (1, 2))
@tessella along_planes(A) = sum(abs2, A; dims = 3)
for f in (along_rows, along_columns, along_both)
    case(f, (T, n) -> (values_of(T, n, n + 2),))
end
case(along_columns, (T, n) -> (values_of(T, n, n),); types = [Int32, UInt8])
case(along_planes, (T, n) -> (values_of(T, 2, n, 3),))

@tessella along_zeros(A) = sum(A; dims = 2)
case(along_zeros, (T, n) -> (fill(-zero(T), n, n),))

@tessella along_products(A) = prod(A; dims = 1)
case(along_products, (T, n) -> (1 .+ values_of(T, n, 3) ./ 4,))

@tessella along_extremes(A) = maximum(A; dims = 1), minimum(A, dims = 2), maximum(abs, A; dims = 2)
case(along_extremes, (T, n) -> (values_of(T, n, n),))

@tessella along_extremes_of_nothing(A) = maximum(A; dims = 1)
case(along_extremes_of_nothing, (T, n) -> (values_of(T, n, 3),))
case(along_extremes_of_nothing, (T, n) -> (values_of(T, 3, n),))

@tessella along_truths(A) = any(A; dims = 1), all(A; dims = 2)
case(along_truths, (T, n) -> (Matrix(values_of(T, n, n) .> 0),))

@tessella function along_means!(A)
    A .-= sum(A; dims = 1) ./ size(A, 1)
    return nothing
end
case(along_means!, (T, n) -> (values_of(T, n, 3),))

@tessella along_whole(A) = sum(A; dims = :)
case(along_whole, (T, n) -> (values_of(T, n, 3),))

@tessella reduced_by_operators(x) = reduce(+, x), mapreduce(abs, max, x; init = zero(eltype(x)))
case(reduced_by_operators, (T, n) -> (values_of(T, n),))

@tessella reduced_from(x, first) = reduce(+, x; init = first), foldl(*, x; init = one(first))
case(reduced_from, (T, n) -> (values_of(T, n) ./ 3, T(0.1)))

@tessella summed_from(x) = sum(x; init = zero(eltype(x)) + 1), maximum(x; init = zero(eltype(x)))
VERSION >= v"1.6" && case(summed_from, (T, n) -> (values_of(T, n),))

@tessella generator_of_pairs(x, y) = sum(a * b for (a, b) in zip(x, y); init = zero(eltype(x)))
VERSION >= v"1.6" && case(generator_of_pairs, (T, n) -> (values_of(T, n), values_of(T, n + 1)))

@tessella generator_zipped(x, y) = sum(a * b for (a, b) in zip(x, y)) + maximum(i * a for (i, a) in enumerate(x))
case(generator_zipped, (T, n) -> (values_of(T, n), values_of(T, n + 1)))

@tessella comprehension_zipped(x, y) = [a - 2b for (a, b) in zip(x, view(x, :))], [i / a for (i, (a, b)) in enumerate(zip(x, x))]
case(comprehension_zipped, (T, n) -> (1 .+ abs.(values_of(T, n)), values_of(T, n)))

@tessella generator_of_tuple(x) = sum(c * x for c in (1, 3, 4)), sum(x / k for k in 1:3)
case(generator_of_tuple, (T, n) -> (T(0.5) + n,))

@tessella function generator_filtered(A)
    m, n = size(A)
    a = count(A[i, j] > 0 for i in 1:m, j in 1:n if i != j)
    b = any(A[i, i] > 0.5 for i in 1:min(m, n) if isodd(i))
    c = all(x < 1 for x in A if x > 0)
    return a, b, c
end
case(generator_filtered, (T, n) -> (values_of(T, n, n + 1),))

@tessella applied_partly(x, limit) = any(>(limit), x), count(<=(limit), x), all(!=(0), x)
case(applied_partly, (T, n) -> (values_of(T, n), T(0.25)))

@tessella extremes_of_both(x) = extrema(x)
case(extremes_of_both, (T, n) -> (values_of(T, n),))
