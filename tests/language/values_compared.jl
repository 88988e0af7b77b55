# Integers of 64 bits next to floats, which Julia compares without rounding the integers.

# What lies around the integers that are no floats, and around the ends of both types.
function compared_integers(T)
    near = [Int128(2)^k + d for k in (0, 23, 24, 52, 53, 54, 62, 63, 64) for d in -3:3]
    all = [near; -near]
    return T[x for x in all if typemin(T) <= x <= typemax(T)]
end

function compared_floats(F)
    near = [F(2)^k for k in (0, 23, 24, 25, 52, 53, 54, 62, 63, 64)]
    near = [near; prevfloat.(near); nextfloat.(near); near .+ F(0.5); F[0, nextfloat(F(0)), Inf, NaN, 1e30]]
    return [near; -near]
end

@tessella function compared_all!(found, x, y)
    for j in eachindex(y), i in eachindex(x)
        found[i, j, 1] = x[i] < y[j]
        found[i, j, 2] = x[i] <= y[j]
        found[i, j, 3] = x[i] > y[j]
        found[i, j, 4] = x[i] >= y[j]
        found[i, j, 5] = x[i] == y[j]
        found[i, j, 6] = x[i] != y[j]
        found[i, j, 7] = y[j] < x[i]
        found[i, j, 8] = y[j] <= x[i]
        found[i, j, 9] = y[j] > x[i]
        found[i, j, 10] = y[j] >= x[i]
        found[i, j, 11] = y[j] == x[i]
        found[i, j, 12] = y[j] ≠ x[i]
    end
end

for I in (Int64, UInt64)
    case(compared_all!, (F, n) -> let x = compared_integers(I), y = compared_floats(F)
        (zeros(Bool, length(x), length(y), 12), x, y)
    end; types = [Float32, Float64])
end

@tessella function compared_mask(x, top)
    mask = x .> top
    s = zero(eltype(x))
    for i in eachindex(x)
        if x[i] >= top && top != x[i]
            s += x[i]
        end
    end
    return (s, count(mask), count(<=(top), x), clamp(top, 0.5, 7.25))
end

for top in (0, 2, typemax(Int))
    case(compared_mask, (T, n) -> (values_of(T, n), top); types = [Float32, Float64])
end

# A loop that counts until a float is reached, and iterators within a radius.
@tessella function compared_counter(x, stop)
    k = 0
    for i in eachindex(x)
        while k < stop * x[i]
            k += 1
        end
    end
    inside = 0
    for i in -9:9, j in -9:9
        inside += i^2 + j^2 <= stop
    end
    return (k, inside)
end

case(compared_counter, (T, n) -> (abs.(values_of(T, n)), T(6.5)); types = [Float32, Float64])

@tessella function compared_fast(x, n)
    s = 0
    for i in eachindex(x)
        @fastmath s += x[i] < n + i
    end
    return s
end

case(compared_fast, (T, n) -> (values_of(T, n), n - 3); types = [Float32, Float64])
@tessella function compared_fast_at_the_ends(n, x)
    s = 0
    for i in eachindex(n, x)
        @fastmath s += n[i] < x[i]
        @fastmath s += 2 * (n[i] == x[i])
    end
    return s
end
case(compared_fast_at_the_ends, (T, n) -> ([2^53 + 1, 2^62 + 1, typemin(Int) + 1, 3], T[2.0^53, 2.0^62, -2.0^63, 3.5]); types = [Float64])
