# Results that a `return` inside of a loop gives back: of several kinds, made of the loop's own variables.

# A pair where it is found, else nothing.
@tessella function found_pair(x, t)
    for i in 1:length(x)
        if x[i] > t
            return (i, x[i])
        end
    end
    return nothing
end
for t in (-0.5, 0.5, 2.0)
    case(found_pair, (T, n) -> (values_of(T, n), T(t)))
end

# Pairs on every path, and a number where nothing is found.
@tessella function found_pair_or_number(x, t)
    for i in 1:length(x)
        x[i] > t && return (i, x[i])
    end
    return -1
end
case(found_pair_or_number, (T, n) -> (values_of(T, n), T(0.5)))

# One of two arguments, with numbers of two types.
@tessella function which_of_two(x, y, t)
    for i in 1:length(x)
        s = x[i] + y[i]
        if s > t
            return x, s
        elseif s < -t
            return y, i
        end
    end
    return x, zero(eltype(x))
end
for t in (0.25, 1.0, 3.0)
    case(which_of_two, (T, n) -> (values_of(T, n), -values_of(T, n + 1)[2:end], T(t)))
    case(which_of_two, (T, n) -> (values_of(T, n), values_of(T, n), T(t)))
end

# Arguments alone.
@tessella function array_or_nothing(x, y, t)
    for i in 1:length(x)
        x[i] > t && return x
        x[i] < -t && return y
    end
    nothing
end
for t in (0.25, 0.9, 3.0)
    case(array_or_nothing, (T, n) -> (values_of(T, n), values_of(T, n), T(t)))
end

# An array that the function has made before the loop.
@tessella function squares_until(x, t)
    n = length(x)
    y = zeros(eltype(x), n)
    for i in 1:n
        y[i] = x[i]^2
        if y[i] > t
            return y, i
        end
    end
    return y, n + 1
end
case(squares_until, (T, n) -> (values_of(T, n), T(0.5)))

# A number of one type here, of another there.
@tessella function sum_or_zero(x, t)
    s = zero(eltype(x))
    for i in 1:length(x)
        s += x[i]
        s < t && return s
    end
    return 0
end
case(sum_or_zero, (T, n) -> (values_of(T, n), T(-0.5)))

# Both become what is declared.
@tessella function sum_as_declared(x, t)::Float64
    s = zero(eltype(x))
    for i in 1:length(x)
        s += x[i]
        s < t && return s
    end
    return 0
end
case(sum_as_declared, (T, n) -> (values_of(T, n), T(-0.5)))

# Named tuples.
@tessella function fixed_point(x0, tol, most)
    x = x0
    for k in 1:most
        next = (x + 1 / x) / 2
        if abs(next - x) < tol
            return (root = next, iterations = k, converged = true)
        end
        x = next
    end
    return (root = x, iterations = most, converged = false)
end
case(fixed_point, (T, n) -> (T(3), T(1e-3), n))

# `while true`, left by two `return`s of two kinds.
@tessella function halved_until(x0, t)
    x = x0
    k = 0
    while true
        x /= 2
        k += 1
        x < t && return x, k
        k > 20 && return nothing
    end
end
for t in (0.0, 0.1)
    case(halved_until, (T, n) -> (T(n + 1), T(t)))
end

# A `c ? a : b` that is given back, of one kind in the loop and of two at the end.
@tessella function chosen_results(x, t)
    for i in 1:length(x)
        if x[i] > t
            return i > 3 ? (i, x[i]) : nothing
        end
    end
    length(x) > 1 ? x : 5
end
for t in (-0.5, 0.0, 0.9, 3.0)
    case(chosen_results, (T, n) -> (values_of(T, n), T(t)))
end

# The name of a variable of the loop, of a `let` and of the loop's iterator.
@tessella function newton_root(a::T) where {T<:AbstractFloat}
    x = a > 1 ? a : one(T)
    for _ in 1:50
        next = (x + a / x) / 2
        abs(next - x) <= eps(T) * x && return next
        x = next
    end
    x
end
case(newton_root, (T, n) -> (T(n),))

@tessella function doubled_in_let(x, t)
    i = 1
    while i <= length(x)
        let y = 2 * x[i]
            y > t && return y
        end
        i += 1
    end
    return zero(eltype(x))
end
case(doubled_in_let, (T, n) -> (values_of(T, n), T(1)))

@tessella function place_above(x, t)
    for i in eachindex(x)
        x[i] > t && return i
    end
end
case(place_above, (T, n) -> (values_of(T, n), T(0.5)))

# Tuples in tuples, out of two loops.
@tessella function place_in_matrix(A, t)
    m, n = size(A)
    for j in 1:n
        s = zero(eltype(A))
        for i in 1:m
            s += A[i, j]
            if s > t
                return s, (i, j)
            end
        end
        if s < -1
            return s, (0, j)
        end
    end
    return zero(eltype(A)), (0, 0)
end
case(place_in_matrix, (T, n) -> (values_of(T, n, n), T(0.75)))

# A complex number and a count.
@tessella function escapes(c, most)
    z = zero(c)
    for k in 1:most
        z = z * z + c
        if abs2(z) > 4
            return z, k
        end
    end
    return z, 0
end
case(escapes, (T, n) -> (Complex(T(0.3), T(0.6)), 3n))

# A helper's results are joined where it is inlined.
first_below(x, t) = begin
    for i in eachindex(x)
        x[i] < t && return i, x[i]
    end
    return 0, t
end
@tessella function uses_first_below!(y, x)
    for k in eachindex(y)
        i, v = first_below(x, y[k])
        y[k] = v + i
    end
end
case(uses_first_below!, (T, n) -> (values_of(T, n), values_of(T, n + 3)))
