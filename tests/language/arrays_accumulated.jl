# `cumsum`, `cumprod`, `accumulate`, `diff`. The sums of these elements are not exact, so that their order shows.

uneven(::Type{T}, n) where {T} = T[sin(T(3k)) / 7 for k in 1:n]

@tessella cumsum_of(x) = cumsum(x)
case(cumsum_of, (T, n) -> (uneven(T, n),); types = [Float32, Float64])
case(cumsum_of, (T, n) -> (values_of(T, n),); types = [Int64, Int8])

@tessella cumsum_of_expression(x) = cumsum(2 .* x .+ 1)
case(cumsum_of_expression, (T, n) -> (uneven(T, n),))

# As many as Julia adds up in one go.
@tessella cumsum_of_many(x) = cumsum(x)
case(cumsum_of_many, (T, n) -> (uneven(T, 7n + min(n, 8)),))

@tessella function cumsum_into!(y, x)
    cumsum!(y, x)
    return nothing
end
case(cumsum_into!, (T, n) -> (zeros(T, n), uneven(T, n)))
case(cumsum_into!, (T, n) -> (zeros(T, n + 1), uneven(T, n)))

@tessella function cumsum_in_place!(x, A)
    cumsum!(x, x)
    @views cumsum!(A[:, 1], A[:, 2])
    x[1:end] .+= 1
    return x
end
case(cumsum_in_place!, (T, n) -> (uneven(T, n), values_of(T, n, 3)))

@tessella function cumsum_of_signs(x)
    y = cumsum(x)
    return y, cumsum(-x)
end
case(cumsum_of_signs, (T, n) -> (zeros(T, n) .* -1,))

@tessella cumsum_rows(A) = cumsum(A, dims = 2)
case(cumsum_rows, (T, n) -> (reshape(uneven(T, n * (n + 1)), n, n + 1),))

@tessella cumsum_columns(A) = cumsum(A; dims = 1)
case(cumsum_columns, (T, n) -> (reshape(uneven(T, n * (n + 1)), n, n + 1),))

@tessella cumprod_of(x) = cumprod(x)
case(cumprod_of, (T, n) -> (uneven(T, n) .+ 1,))

@tessella function cumprod_into!(y, x)
    cumprod!(y, x)
    y
end
case(cumprod_into!, (T, n) -> (zeros(T, n), uneven(T, n) .+ 1))

@tessella accumulated(x) = accumulate(max, x), accumulate(min, x), accumulate(+, x), accumulate(*, x)
case(accumulated, (T, n) -> (uneven(T, n),); types = [Float64])
case(accumulated, (T, n) -> (values_of(T, n),); types = [Int64])

@tessella accumulated_nan(x) = accumulate(max, x)
case(accumulated_nan, (T, n) -> (T[k == 3 ? NaN : -k for k in 1:n],))

@tessella differences(x) = diff(x)
case(differences, (T, n) -> (uneven(T, n),))
case(differences, (T, n) -> (values_of(T, n),); types = [Int64])

@tessella differences_of_part(A) = diff(A[:, 1]) .+ diff(2 .* view(A, :, 2))
case(differences_of_part, (T, n) -> (values_of(T, n, 2),))

# `cumsum` and `cumprod` widen small integers, `accumulate` does not; products of `Bool`s stay `Bool`s.
@tessella accumulated_narrow(x) = cumsum(x), cumprod(x), accumulate(+, x), accumulate(*, x)
case(accumulated_narrow, (T, n) -> (values_of(T, n),); types = DataType[Int8, Int16, UInt8, UInt32])
case(accumulated_narrow, (T, n) -> ([k != 5 for k in 1:n],); types = [Bool])

@tessella accumulated_bools_along(B) = cumprod(B; dims = 1), cumsum(B; dims = 2)
case(accumulated_bools_along, (T, n) -> ([(i + j) % 3 != 0 for i in 1:n, j in 1:n+1],); types = [Bool])
