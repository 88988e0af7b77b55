# Arrays and tuples of numbers that are constants of the module.

const WEIGHTS_OF_THREE = [0.25, 0.5, 0.25]
const BINOMIALS = (1, 4, 6, 4, 1)
const SHARPEN = [0 -1 0; -1 5 -1; 0 -1 0]
const DISTANCES = [-1, 0, 1]
const NARROW_TABLE = Int8[3, -7, 0, 5, 127]
const SINGLE_TABLE = Float32[0.1 * k for k in 1:40]
const TABLE_OF_SQUARES = [k * k for k in 1:100]
const NO_NUMBERS = Float64[]
const CUBE_OF_NUMBERS = reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2, 2, 2)
const ODD_FLOATS = [-0.0, Inf, -Inf, 5.0e-324]

@tessella function constant_weights!(y, x)
    for i in 2:length(x)-1
        s = zero(eltype(y))
        for k in 1:3
            s += WEIGHTS_OF_THREE[k] * x[i+k-2]
        end
        y[i] = s
    end
    return nothing
end
case(constant_weights!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function constant_tuple!(y, x)
    for i in 3:length(x)-2
        for k in eachindex(BINOMIALS)
            y[i] += BINOMIALS[k] * x[i+k-3]
        end
        y[i] /= sum(w for w in WEIGHTS_OF_THREE) * length(BINOMIALS)
    end
    return nothing
end
case(constant_tuple!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function constant_matrix!(y, x)
    m, n = size(x)
    for j in 2:n-1, i in 2:m-1
        s = zero(eltype(x))
        for b in axes(SHARPEN, 2), a in 1:size(SHARPEN, 1)
            s += SHARPEN[a, b] * x[i+a-2, j+b-2]
        end
        y[i, j] = s
    end
    return nothing
end
case(constant_matrix!, (T, n) -> (zeros(T, n, 5), values_of(T, n, 5)))

# What subscripts are computed from.
@tessella function constant_distances!(y, x, q)
    for i in 2:length(x)-1
        for k in 1:length(DISTANCES)
            y[i] += x[i+DISTANCES[k]]
        end
        y[i] += x[i+DISTANCES[q[i]]]
    end
    return nothing
end
case(constant_distances!, (T, n) -> (zeros(T, n), values_of(T, n), [mod1(7k, 3) for k in 1:n]))
case(constant_distances!, (T, n) -> (zeros(T, n), values_of(T, n), [mod1(7k, 4) for k in 1:n]))

@tessella function constant_tables!(y, z, k)
    for i in eachindex(k)
        y[i] = SINGLE_TABLE[k[i]] + NARROW_TABLE[mod1(k[i], 5)]
        z[i] = TABLE_OF_SQUARES[k[i]] * WEIGHTS_OF_THREE[mod1(k[i], 3)]
    end
    return nothing
end
case(constant_tables!, (T, n) -> (zeros(T, n), zeros(n), [mod1(7k, 40) for k in 1:n]))
case(constant_tables!, (T, n) -> (zeros(T, n), zeros(n), [7k for k in 1:n]))

@tessella function constant_whole(x)
    total = sum(SHARPEN) + maximum(TABLE_OF_SQUARES) + length(NO_NUMBERS) + sum(NO_NUMBERS) + sum(CUBE_OF_NUMBERS)
    for w in DISTANCES
        total += w
    end
    for (k, w) in enumerate(NARROW_TABLE)
        total += k * w
    end
    return total, CUBE_OF_NUMBERS[2, 1, 2], x .* WEIGHTS_OF_THREE[end], copy(WEIGHTS_OF_THREE), WEIGHTS_OF_THREE .+ DISTANCES
end
case(constant_whole, (T, n) -> (values_of(T, n),))

@tessella constant_bits(x) = [copysign(x[i], ODD_FLOATS[mod1(i, 4)]) for i in eachindex(x)]
case(constant_bits, (T, n) -> (values_of(T, n),); types = [Float64])

weighed(x, weights) = weights[1] * x + weights[3]
@tessella constant_passed(x) = [weighed(v, WEIGHTS_OF_THREE) for v in x]
case(constant_passed, (T, n) -> (values_of(T, n),))
