# Bounds that are products and quotients, and steps that vary.

@tessella function packed_rows!(y, packed)
    for i in 1:length(y)
        for k in (i-1)*i÷2+1:i*(i+1)÷2
            y[i] += packed[k]
        end
    end
    return nothing
end
case(packed_rows!, (T, n) -> (zeros(T, n), values_of(T, n * (n + 1) ÷ 2)))
case(packed_rows!, (T, n) -> (zeros(T, n), values_of(T, n * n ÷ 2)))

@tessella function rows_of_width!(y, values, width)
    for i in 1:length(y), k in (i-1)*width+1:i*width
        y[i] += values[k]
    end
    return nothing
end
case(rows_of_width!, (T, n) -> (zeros(T, n), values_of(T, 3n), 3))
case(rows_of_width!, (T, n) -> (zeros(T, n), values_of(T, 3n), -2))

@tessella function narrow_products!(y, x, n, m)
    for i in Int32(1):n*m
        y[i] = x[i] + i
    end
    for i in n ÷ m:n
        y[i] += 1
    end
    return nothing
end
case(narrow_products!, (T, n) -> (zeros(T, 2n + 2), values_of(T, 2n), Int32(n), Int32(2)))
case(narrow_products!, (T, n) -> (zeros(T, 2n + 2), values_of(T, 2n), n, 2))
case(narrow_products!, (T, n) -> (zeros(T, 2n + 2), values_of(T, 2n), n, 0))

@tessella function every_so_many!(y, x, step)
    for i in 1:step:length(y)
        y[i] = x[i] + i
    end
    for i in length(y):-step:1
        y[i] -= 2i
    end
    return nothing
end
for step in (1, 2, 5, 30, -1, -3, 0)
    case(every_so_many!, (T, n) -> (zeros(T, n), values_of(T, n), step))
end

@tessella function sums_of_strides(x, first, step, last)
    total = zero(eltype(x))
    for i in first:step:last
        total += x[i]
    end
    return total
end
case(sums_of_strides, (T, n) -> (values_of(T, n), 1, 3, n))
case(sums_of_strides, (T, n) -> (values_of(T, n), n, -2, 1))
case(sums_of_strides, (T, n) -> (values_of(T, n), 0, 2, n))

@tessella function doubled_strides!(y, x)
    n = length(x)
    for level in 0:4
        stride = 2^level
        for i in 1:stride:n
            y[i] += stride * x[i]
        end
    end
    return nothing
end
case(doubled_strides!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function multiples!(sieve)
    n = length(sieve)
    for p in 2:isqrt_of(n), q in p*p:p:n
        sieve[q] = false
    end
    return nothing
end
isqrt_of(n) = floor(Int, sqrt(n))
case(multiples!, (T, n) -> (fill(true, 3n),); types = DataType[Float64])

@tessella function bit_reversal!(p, bits)
    for i in 0:2^bits-1
        r = 0
        for b in 0:bits-1
            r |= ((i >> b) & 1) << (bits - 1 - b)
        end
        p[i+1] = r + 1
    end
    return nothing
end
case(bit_reversal!, (T, n) -> (zeros(Int, 2^(n % 5)), n % 5); types = DataType[Float64])
