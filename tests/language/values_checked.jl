# Operations that Julia raises from: conversions that may not be exact, divisions by what may be zero.

# Finite for most sizes; for some, one element that fits no integer.
checked_values(T, n, odd) = (x = T(40) .* values_of(T, n); n == 3 && (x[2] = odd); x)

@tessella function floor_to_integers!(k, x)
    for i in eachindex(k, x)
        k[i] = floor(Int, x[i]) + 10ceil(Int, 2x[i]) + 100trunc(Int, 3x[i]) + 1000round(Int, x[i] / 2)
    end
    return nothing
end

@tessella function floor_of_odd_values!(k, x)
    for i in eachindex(k, x)
        k[i] = floor(Int32, x[i])
    end
    return nothing
end

@tessella function truncate_unused(x)
    s = zero(eltype(x))
    for i in eachindex(x)
        k = trunc(Int16, 1000x[i])
        s += x[i]
    end
    return s
end

@tessella function bin_counts!(counts, x, low, width)
    for i in 1:length(x)
        bin = floor(Int, (x[i] - low) / width) + 1
        1 <= bin <= length(counts) || continue
        counts[bin] += 1
    end
    return counts
end

@tessella function lookup_by_floor!(y, table, x)
    for i in 1:length(y)
        k = clamp(floor(Int, x[i]), 1, length(table) - 1)
        w = x[i] - k
        y[i] = (1 - w) * table[k] + w * table[k + 1]
    end
    return nothing
end

@tessella function subscript_by_round!(y, table, x)
    for i in 1:length(y)
        y[i] = table[round(Int, abs(x[i])) + 1]
    end
    return nothing
end

@tessella function floor_where_positive!(k, x)
    for i in 1:length(k)
        k[i] = x[i] > 0 ? floor(Int, sqrt(x[i])) : -1
        if x[i] < -1
            k[i] += round(UInt8, -x[i])
        end
        if x[i] > 30 && trunc(Int8, x[i]) > 35
            k[i] *= 2
        end
    end
    return nothing
end

@tessella function whole_numbers!(k, x)
    for i in 1:length(k)
        k[i] = Int(x[i]) + convert(Int32, 2x[i]) + Bool(x[i] * 0)
    end
    return nothing
end

@tessella function narrow_integers!(a, b, k)
    for i in 1:length(k)
        a[i] = k[i]
        b[i] = UInt16(k[i]) + UInt8(i)
    end
    return nothing
end

@tessella function iterators_of_bytes!(a)
    for i in 1:length(a)
        a[i] = Int8(i - 10)
    end
    return nothing
end

@tessella function half_of_a_size!(y, x)
    n = length(x)
    h = floor(Int, n / 2)
    for i in 1:h
        y[i] = x[2i]
    end
    for i in 1:ceil(Int, n / 3)
        y[i] += x[trunc(Int, i / 2) + 1]
    end
    return nothing
end

@tessella function means_of_counts!(mean, total, count)
    for i in 1:length(mean)
        mean[i] = total[i] ÷ count[i] + total[i] % count[i]
    end
    return nothing
end

@tessella function means_where_counted!(mean::Vector{T}, total, count) where {T}
    for i in 1:length(mean)
        mean[i] = count[i] == 0 ? -one(T) : fld(total[i], count[i])
        if count[i] != 0
            mean[i] += mod(total[i], count[i]) + T(100) * cld(total[i], count[i])
        end
    end
    return nothing
end

@tessella function divisions_of_extremes!(r, a, b)
    for i in 1:length(r)
        r[i] = rem(a[i], b[i]) + mod(a[i], b[i])
    end
    return nothing
end

@tessella function quotients_of_extremes!(r, a, b)
    for i in 1:length(r)
        r[i] = div(a[i], b[i])
    end
    return nothing
end

@tessella function unsigned_divisions!(r, a, b)
    for i in 1:length(r)
        r[i] = div(a[i], b[i]) + rem(a[i], b[i]) + mod1(a[i], b[i])
    end
    return nothing
end

@tessella function remainders_of_arguments!(r, m)
    for i in 1:length(r)
        r[i] = mod(i, m) + 10mod1(i - 5, m) + 100rem(i - 5, m) + 1000fld1(i, m)
    end
    return nothing
end

@tessella function required_in_a_branch!(y, n)
    if n > 2
        k = Int8(50n)
    end
    for i in 1:length(y)
        y[i] = i
    end
    return nothing
end

case(required_in_a_branch!, (T, n) -> (zeros(T, n), n))
case(floor_to_integers!, (T, n) -> (zeros(Int, n), T(40) .* values_of(T, n)))
for odd in (NaN, Inf, -Inf, 3e9, -2147483648.5, 2147483647.5, -2147483649.0)
    case(floor_of_odd_values!, (T, n) -> (zeros(Int, n), checked_values(T, n, T(odd))))
end
case(truncate_unused, (T, n) -> (T(n) .* values_of(T, n),))
case(bin_counts!, (T, n) -> (zeros(Int, 4), checked_values(T, n, T(NaN)), T(-20), T(10)))
case(lookup_by_floor!, (T, n) -> (zeros(T, n), values_of(T, 5), checked_values(T, n, T(1e30)) ./ 8))
case(subscript_by_round!, (T, n) -> (zeros(T, n), values_of(T, 42 - 8 * (n == 17)), T(40) .* values_of(T, n)))
case(floor_where_positive!, (T, n) -> (zeros(Int, n), checked_values(T, n, T(-300))))
case(whole_numbers!, (T, n) -> (zeros(Int, n), round.(checked_values(T, n, T(1)) .+ (n == 17) / 2)))
case(whole_numbers!, (T, n) -> (zeros(Int, n), checked_values(T, n, T(1))))
case(narrow_integers!, (T, n) -> (zeros(T, n), zeros(UInt16, n), Int[50k - (n == 17) * 60 for k in 1:n]); types = [Int16, Int8, UInt8])
case(iterators_of_bytes!, (T, n) -> (zeros(Int, 20n),))
case(half_of_a_size!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(means_of_counts!, (T, n) -> (zeros(T, n), T[7k - 20 for k in 1:n], T[3 - (n == 17) * k for k in 1:n]); types = [Int64, Int16])
case(means_where_counted!, (T, n) -> (zeros(T, n), T[7k - 20 for k in 1:n], T[5 - k for k in 1:n]); types = [Int64, Int32])
case(divisions_of_extremes!, (T, n) -> (zeros(T, n), fill(typemin(T), n), fill(T(-1), n)); types = [Int8, Int32, Int64])
case(quotients_of_extremes!, (T, n) -> (zeros(T, n), fill(typemin(T), n), T[k - 2 - (n < 2) for k in 1:n]); types = [Int8, Int32, Int64])
case(unsigned_divisions!, (T, n) -> (zeros(T, n), T[3k for k in 1:n], T[k + 1 for k in 1:n]); types = [UInt8, UInt32, UInt64])
for m in (-3, -1, 0, 1, 2, 7)
    case(remainders_of_arguments!, (T, n) -> (zeros(T, n), m); types = [Int64])
end
