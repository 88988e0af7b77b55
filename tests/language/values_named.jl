# Named tuples: fields, positions, as arguments and results of helpers, as results of the function.

flux_of(u, v; c = 2) = (mass = c * v, momentum = u * v)

@tessella function named_fields!(A, B)
    for i in 2:length(A)
        l = flux_of(A[i-1], B[i-1])
        r = flux_of(A[i], B[i]; c = 1)
        B[i] = (l.mass + r.mass) / 2 - (l.momentum - r[2]) * l[1]
        mass, momentum = r
        A[i] = mass - momentum + length(l)
    end
end

case(named_fields!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function named_shorthand!(A)
    for i in eachindex(A)
        a, b = A[i], 2A[i]
        p = (; a, b)
        q = (; p..., b = p.a - 1, c = i)
        A[i] = q.a + q.b * q.c
    end
    return nothing
end

VERSION >= v"1.5" && case(named_shorthand!, (T, n) -> (values_of(T, n),))

choose_named(x) = x > 0 ? (sign = 1, size = x) : (sign = -1, size = -x)

@tessella function named_chosen!(A, s::Vector{Int})
    for i in eachindex(A)
        p = choose_named(A[i])
        s[i] = p.sign
        A[i] = p.size
    end
end

case(named_chosen!, (T, n) -> (values_of(T, n), zeros(Int, n)))

scaled_by(x; factor, shift = 0) = factor * x + shift

@tessella function named_keywords!(A)
    options = (factor = 3, shift = 1)
    for i in eachindex(A)
        A[i] = scaled_by(A[i]; options...)
    end
end

case(named_keywords!, (T, n) -> (values_of(T, n),))

@tessella function named_result(x)
    total = zero(eltype(x))
    for i in eachindex(x)
        total += x[i]
    end
    return (total = total, count = length(x))
end

case(named_result, (T, n) -> (values_of(T, n),))

@tessella function named_result_of_arrays(x)
    y = x .+ 1
    return (doubled = 2 .* x, first = (x, y), z = complex(1.5, 2.0))
end

case(named_result_of_arrays, (T, n) -> (values_of(T, n),))

const LIMITS = (low = -0.5, high = (0.25, 3))

@tessella function named_constants!(A)
    for i in eachindex(A)
        A[i] = clamp(A[i], LIMITS.low, LIMITS.high[1]) + LIMITS.high[2]
    end
end

case(named_constants!, (T, n) -> (values_of(T, n),))
