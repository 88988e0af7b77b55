# Numbers: types, conversions, functions of Base.

@tessella function types_as_values!(B, A)
    T = eltype(A)
    for i in 1:length(A)
        x = A[i]
        B[i] = T(2) + oftype(x, 1) + zero(x) + one(T) + float(i) * typeof(x)(3) + convert(T, i)
    end
    return nothing
end

@tessella function irrational!(B, A)
    two_pi = 2pi
    for i in 1:length(A)
        B[i] = pi * A[i] + ℯ + two_pi + π / 2 + A[i] * π
    end
    return nothing
end

@tessella function functions_of_one!(B, A)
    for i in 1:length(A)
        x = A[i]
        B[i] = sign(x) + abs2(x) + inv(x + 2) + abs(x) + clamp(x, -0.5, 0.5) + ifelse(x > 0, x, -x)
        B[i] += isodd(i) ? 1 : iseven(i) ? 2 : 3
    end
    return nothing
end

@tessella function integer_division!(B, A)
    for i in 1:length(A)
        q, r = divrem(A[i], 7)
        x = q + r + mod1(A[i], 5) + fld1(A[i], 5) + mod(A[i], 3) + cld(A[i], 4) + fld(A[i], -4)
        B[i] = x % eltype(B)
    end
    return nothing
end

@tessella function fused!(B, A)
    for i in 1:length(A)
        B[i] = fma(A[i], A[i], one(eltype(A))) + evalpoly(A[i], (1, 2, 3)) + @evalpoly(A[i], 1, 2, 3)
    end
    return nothing
end

@tessella function both_of_sincos!(B, A)
    for i in 1:length(A)
        s, c = sincos(zero(A[i]))
        B[i] = s + c
    end
    return nothing
end

@tessella function chained!(B, A)
    for i in 1:length(A)
        a = b = A[i] + 1
        a += 1
        B[i] = a - b
        x, y, z = a, b, i
        x, y = y, x
        B[i] += x + y * z
    end
    return nothing
end

@tessella function bits!(B, A)
    for i in 1:length(A)
        B[i] = ((A[i] << 2) ⊻ (A[i] >> 1) | (A[i] & 5) + (~A[i])) % eltype(B)
    end
    return nothing
end

plain(T, n) = (zeros(T, n), values_of(T, n))
for f in (types_as_values!, irrational!, functions_of_one!, fused!, both_of_sincos!, chained!)
    case(f, plain)
end
case(integer_division!, plain; types = (Int64, Int32))
case(bits!, plain; types = (Int64, UInt8, Int32))

# Less than nothing by what is no negative zero.
@tessella function less_than_zero!(y, x, k)
    for i in eachindex(x)
        y[i] = (0.0 - k[i]) + (0 - abs(x[i])) * 0
        y[i] = copysign(y[i], 0 - abs(x[i])) - (-abs(x[i]) + 0.0)
        x[i] = 0.0 - (x[i] > 0 ? 1.0 : 0.0)
    end
end

case(less_than_zero!, (T, n) -> (zeros(T, n), values_of(T, n), [mod(i, 3) - 1 for i in 1:n]))
