# Functions of Base that are made of operators.

@tessella function counts_of_bits!(y, x)
    for i in eachindex(x)
        y[1, i] = count_ones(x[i])
        y[2, i] = count_zeros(x[i])
        y[3, i] = leading_zeros(x[i])
        y[4, i] = leading_ones(x[i])
        y[5, i] = trailing_zeros(x[i])
        y[6, i] = trailing_ones(x[i])
        y[7, i] = ispow2(x[i])
    end
    return nothing
end
# All bits, none, the lowest, the highest.
odd_integers(T, n) = T[k % 5 == 0 ? typemin(T) : k % 5 == 1 ? zero(T) : k % 5 == 2 ? typemax(T) : (37k) % T for k in 1:n]
case(counts_of_bits!, (T, n) -> (zeros(Int, 7, n), odd_integers(T, n));
     types = DataType[Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64])

@tessella function signs_and_orders!(y, z, x, v)
    for i in eachindex(x)
        y[1, i] = isless(x[i], v[i])
        y[2, i] = isless(v[i], x[i])
        y[3, i] = isequal(x[i], v[i])
        y[4, i] = isinteger(x[i])
        z[1, i] = flipsign(x[i], v[i])
        z[2, i] = copysign(x[i], v[i])
        z[3, i], z[4, i] = minmax(x[i], v[i])
    end
    return nothing
end
odd_numbers(::Type{T}, n) where {T<:AbstractFloat} = T[(0, -0.0, NaN, Inf, -Inf, 1.5, -2)[mod1(3k, 7)] for k in 1:n]
odd_numbers(::Type{T}, n) where {T} = odd_integers(T, n)
case(signs_and_orders!, (T, n) -> (fill(false, 4, n), zeros(T, 4, n), odd_numbers(T, n), reverse(odd_numbers(T, n)));
     types = DataType[Float32, Float64, Int8, Int32, Int64])

@tessella orders_of_integers(x, v) = [cmp(x[i], v[i]) for i in eachindex(x)]
case(orders_of_integers, (T, n) -> (odd_integers(T, n), reverse(odd_integers(T, n))); types = DataType[Int8, UInt16, Int64])

@tessella approximately(x, v) = [isapprox(x[i], v[i]) for i in eachindex(x)]
case(approximately, (T, n) -> (odd_numbers(T, n), reverse(odd_numbers(T, n))))
case(approximately, (T, n) -> (values_of(T, n), values_of(T, n) .* (1 + sqrt(eps(T)) / 2)))
case(approximately, (T, n) -> (values_of(T, n), values_of(T, n) .* (1 + 2sqrt(eps(T)))))

@tessella products_of_twice_the_width(x, v) = [widemul(x[i], v[i]) for i in eachindex(x)]
case(products_of_twice_the_width, (T, n) -> (odd_integers(T, n), reverse(odd_integers(T, n)));
     types = DataType[Int8, UInt8, Int16, UInt16, Int32, UInt32])
case(products_of_twice_the_width, (T, n) -> (values_of(T, n), values_of(T, n)); types = DataType[Float32])

@tessella angles_in_degrees(x) = [deg2rad(x[i]) + rad2deg(x[i]) for i in eachindex(x)]
case(angles_in_degrees, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int32])

# Exact where they are zero or one.
@tessella function turns_in_halves!(y, x)
    for i in eachindex(x)
        y[1, i] = sinpi(x[i])
        y[2, i] = cospi(x[i])
    end
    return nothing
end
case(turns_in_halves!, (T, n) -> (zeros(T, 2, n), T[k / 2 - 4 for k in 1:n]))

@tessella function turns_inexactly!(y, x)
    for i in eachindex(x)
        y[1, i] = abs(sinpi(x[i]) - sin(Float64(pi) * x[i])) < 1e-5
        y[2, i] = abs(cospi(x[i]) - cos(Float64(pi) * x[i])) < 1e-5
        y[3, i] = abs(sec(x[i]) * cos(x[i]) - 1) < 1e-5
        y[4, i] = abs(csc(x[i]) * sin(x[i]) - 1) < 1e-5
        y[5, i] = abs(cot(x[i]) * tan(x[i]) - 1) < 1e-5
    end
    return nothing
end
case(turns_inexactly!, (T, n) -> (fill(false, 5, n), T[0.1f0 + 0.3f0 * k for k in 1:n]))

@tessella function limits_without_a_type!(y)
    y[1] = eps()
    y[2] = floatmin()
    y[3] = floatmax()
end
case(limits_without_a_type!, (T, n) -> (zeros(3),); types = [Float64])

@tessella function differences_as_floats(A::AbstractMatrix{T}) where {T}
    B = similar(A, float(T), size(A, 1), 1)
    c = zeros(float(T), 2)
    for i in axes(A, 1)
        B[i, 1] = (A[i, 2] - A[i, 1]) / 2 + c[2]
    end
    return B
end
case(differences_as_floats, (T, n) -> (values_of(T, n, 2),); types = [Int32, Float32])
