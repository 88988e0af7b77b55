# Functions of Base that are loops or several steps; powers with exponents that vary; `in`.

@tessella powers_of_integers(x, k) = [v^k for v in x]
case(powers_of_integers, (T, n) -> (odd_integers(T, n), 5); types = DataType[Int8, UInt8, Int32, Int64])
case(powers_of_integers, (T, n) -> (odd_integers(T, n), 0); types = DataType[Int32, Int64])
case(powers_of_integers, (T, n) -> (odd_integers(T, n), 1); types = DataType[Int32, Int64])
case(powers_of_integers, (T, n) -> (T[k % 2 == 0 ? -1 : 1 for k in 1:n], -5); types = DataType[Int32, Int64])
case(powers_of_integers, (T, n) -> (T[k for k in 1:n], -2); types = DataType[Int64])

@tessella function powers_of_constants!(y, z, x)
    for i in eachindex(x)
        y[i] = 2^i + (-1)^i + 10^min(i, 18) + 3^i
        y[i] += 2^k_of(i)
        z[i] = (-1)^(i + 1) * x[i] / 2.0^i
    end
    return nothing
end
k_of(i) = 5i
case(powers_of_constants!, (T, n) -> (zeros(Int, n), zeros(T, n), values_of(T, n)))

# Of small whole numbers the library's powers are exact.
@tessella powers_of_floats(x) = [x[i]^i for i in eachindex(x)]
case(powers_of_floats, (T, n) -> (T[(-1)^k * (k % 3) for k in 1:n],))

@tessella extremes_and_places(x) = (findmax(x), findmin(x), argmax(x), argmin(x))
case(extremes_and_places, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int8, UInt16, Int64])
case(extremes_and_places, (T, n) -> (odd_numbers(T, n),); types = DataType[Float32, Float64])
case(extremes_and_places, (T, n) -> (T[0.0, -0.0, 0.0, -0.0][1:min(n, 4)],); types = DataType[Float64])

@tessella function places_of_rows!(p, A)
    for i in axes(A, 1)
        p[i] = argmax(abs.(A[i, :])) + 10 * argmin(view(A, i, :))
    end
    return nothing
end
case(places_of_rows!, (T, n) -> (zeros(Int, n), values_of(T, n, 5)))

@tessella common_divisors(x, v) = [gcd(x[i], v[i]) for i in eachindex(x)]
case(common_divisors, (T, n) -> (T[12k for k in 1:n], T[mod(37k, 60) - 20 for k in 1:n]); types = DataType[Int16, Int32, Int64])
case(common_divisors, (T, n) -> (odd_integers(T, n), T[k for k in 1:n]); types = DataType[UInt8, Int8, Int64])
case(common_divisors, (T, n) -> (T[0 for k in 1:n], odd_integers(T, n)); types = DataType[Int8, Int64, UInt64])
@tessella common_divisor_of(n) = gcd(n, 12) + gcd(-8, n)
case(common_divisor_of, (T, n) -> (6n,); types = DataType[Int])

@tessella function members!(y, x)
    for i in eachindex(x)
        y[1, i] = x[i] in (0, 0.5, -0.25) || i ∉ (1, 2, 5)
        y[2, i] = i in 2:5
        y[3, i] = i in 9:-3:2 && i ∉ 4:2:8
        y[4, i] = x[i] ≈ 0.5 || x[i] ≉ 2x[i]
        y[5, i] = i ∈ axes(x, 1)
    end
    return nothing
end
case(members!, (T, n) -> (fill(false, 5, n), values_of(T, n)))

@tessella orders_of_floats(x, v) = [cmp(x[i], v[i]) for i in eachindex(x)]
case(orders_of_floats, (T, n) -> (odd_numbers(T, n), reverse(odd_numbers(T, n))); types = DataType[Float32, Float64])

@tessella decades(x) = [exp10(v) for v in x]
case(decades, (T, n) -> (T[k % 4 for k in 1:n],))

# Of a matrix the place is a `CartesianIndex`.
@tessella function extremes_of_matrix!(A)
    most, I = findmax(A)
    least, J = findmin(A)
    A[argmax(abs.(A))] = 2
    return most, I[1], I[2], least, Tuple(J), Tuple(argmin(A))
end
case(extremes_of_matrix!, (T, n) -> (values_of(T, n, n + 1),))
case(extremes_of_matrix!, (T, n) -> (fill(T(n), 2, 3),))
case(extremes_of_matrix!, (T, n) -> (T[1 NaN 2; -0.0 NaN 0.0],))

# Binary search, in vectors that are sorted and in others.
@tessella searched(v, x) = (searchsortedfirst(v, x), searchsortedlast(v, x), issorted(v))
case(searched, (T, n) -> (sort(values_of(T, n)), T(0.25)))
case(searched, (T, n) -> (sort(values_of(T, n)), T(-2)))
case(searched, (T, n) -> (sort(values_of(T, n)), T(2)))
case(searched, (T, n) -> (values_of(T, n), T(0)))
case(searched, (T, n) -> (T[-0.0, 0.0, 1.0, NaN], T(0)))
case(searched, (T, n) -> (T[1, 1, 3, 3, 3, 7], T(n)); types = [Int32, Int64])

@tessella function searched_in_table!(y, v, w, x)
    for i in eachindex(x)
        k = clamp(searchsortedlast(v, x[i]), 1, length(v) - 1)
        y[i] = w[k] + (x[i] - v[k]) / (v[k+1] - v[k]) * (w[k+1] - w[k])
    end
end
case(searched_in_table!, (T, n) -> (zeros(T, n), T[-1, 0, 0.5, 2], T[1, 2, 4, 3], values_of(T, n)))
case(searched_in_table!, (T, n) -> (zeros(T, 3), collect(T, 1:n), values_of(T, n), T[0, 1, 30]))
