# Functions whose paths give back different arrays, called inside of others.

function paths_limited(u, top)
    m = maximum(abs, u)
    if m > top
        return u .* (top / m)
    end
    return u
end

# In a time loop: the array of the iteration before, or a new one.
@tessella function paths_in_steps(x, top, steps)
    u = copy(x)
    for t in 1:steps
        u = paths_limited(u .* 2, top)
    end
    return u
end
case(paths_in_steps, (T, n) -> (values_of(T, n + 1), T(1.5), n))

# What is given back is the argument: a store is seen through both names.
function paths_same_or_new(x, a)
    a > 0 && return x
    return x .* a
end
@tessella function paths_stored(x, a)
    y = paths_same_or_new(x, a)
    y[1] = 5
    return (sum(x), y)
end
@tessella function paths_in_sums(x, a)
    s = sum(paths_same_or_new(x, a)) + 1
    return 2 * s - maximum(abs, paths_same_or_new(x, -a))
end
@tessella function paths_in_elements(x, a)
    y = 2 .* paths_same_or_new(x, a) .+ x
    y .-= paths_same_or_new(y, a)
    return y .+ paths_same_or_new(x, -a)
end
@tessella paths_at_the_end(x, a) = sum(paths_same_or_new(x, a))
@tessella function paths_in_conditions(x, a)
    if sum(paths_same_or_new(x, a)) > 0
        return x .+ 1
    end
    return paths_same_or_new(x, a)
end
for a in (-0.5, 2)
    case(paths_stored, (T, n) -> (values_of(T, n + 1), T(a)))
    case(paths_in_sums, (T, n) -> (values_of(T, n + 1), T(a)))
    case(paths_in_elements, (T, n) -> (values_of(T, n), T(a)))
    case(paths_at_the_end, (T, n) -> (values_of(T, n), T(a)))
    case(paths_in_conditions, (T, n) -> (values_of(T, n), T(a)))
end

# An iteration gives back what it made, and how often it ran.
function paths_newton(x, tolerance)
    y = copy(x)
    for k in 1:20
        next = (y .+ x ./ y) ./ 2
        if maximum(abs.(next .- y)) < tolerance
            return next, k
        end
        y = next
    end
    return y, 20
end
@tessella paths_of_iterations(x, tolerance) = paths_newton(x, tolerance)
@tessella function paths_of_called_iterations(x, tolerance)
    y, k = paths_newton(x, tolerance)
    z, l = paths_newton(y, 10 * tolerance)
    return (sum(y), k, z, l)
end
for tolerance in (1e-3, 0)
    case(paths_of_iterations, (T, n) -> (abs.(values_of(T, n + 1)) .+ 1, T(tolerance)))
    case(paths_of_called_iterations, (T, n) -> (abs.(values_of(T, n + 1)) .+ 1, T(tolerance)))
end

# Two arrays of an iteration, the second of another type.
@tessella function paths_two_at_once(x, limit)
    for k in 1:length(x)
        y = x .* k
        mask = [v > limit ? 1 : 0 for v in y]
        if sum(mask) > 2
            return y, mask, y .+ 1
        end
    end
    return x, zeros(Int, length(x)), copy(x)
end
case(paths_two_at_once, (T, n) -> (values_of(T, n), T(1.5)); types = [Float64])

# Complex numbers, and a matrix.
function paths_turned(z, flag)
    if flag
        return z .* im
    else
        return z
    end
end
@tessella function paths_of_complex(z, flag)
    w = paths_turned(z, flag)
    w = paths_turned(w, !flag)
    return w .+ 1
end
function paths_transposed(A, n)
    n == 1 && return A
    n == 2 && return A .* 2
    return A .- 1
end
@tessella function paths_of_three(A, n)
    B = paths_transposed(A, n)
    s = zero(eltype(A))
    for j in axes(B, 2), i in axes(B, 1)
        s += B[i, j] * i
    end
    return s, B
end
case(paths_of_complex, (T, n) -> (complex.(values_of(T, n), -values_of(T, n)), true))
case(paths_of_complex, (T, n) -> (complex.(values_of(T, n), -values_of(T, n)), false))
case(paths_of_three, (T, n) -> (values_of(T, n, 3), n))

# One array given back twice from a loop is one array; a helper that ends with a choice.
@tessella function paths_twice_the_same(x, k, m)
    for i in 1:k
        n = x .+ i
        i >= m && return (n, n)
    end
    return x, x
end
paths_choosing(u, top) = maximum(abs, u) > top ? u .* top : u
@tessella function paths_chosen_at_the_end(x, top)
    u = paths_choosing(x .* 2, top)
    u .+= 1
    return u, sum(paths_choosing(x, top))
end
@tessella paths_chosen_given_back(x, top) = paths_choosing(x, top)
case(paths_twice_the_same, (T, n) -> (values_of(T, n), 3, 2))
case(paths_twice_the_same, (T, n) -> (values_of(T, n), 3, 4))
for top in (0.5, 4)
    case(paths_chosen_at_the_end, (T, n) -> (values_of(T, n + 1), T(top)))
    case(paths_chosen_given_back, (T, n) -> (values_of(T, n + 1), T(top)))
end

# Helpers that return from a loop, called for each element.
function paths_steps(n)
    for k in 0:100
        n == 1 && return k
        n = iseven(n) ? n ÷ 2 : 3n + 1
    end
    return -1
end
function paths_place(t, v)
    for i in eachindex(t)
        t[i] >= v && return i
    end
    return 0
end
@tessella paths_longest(n) = maximum(paths_steps(k) for k in 1:n+1)
@tessella paths_places(t, x) = [paths_place(t, v) for v in x]
@tessella paths_places_of_pairs(t, x) = [paths_place(t, v + w) for v in x, w in x]
paths_half(v) = v / 2
@tessella paths_best_of_called(x) = (findmax([paths_half(v) for v in x]), argmin(paths_half.(x)))
case(paths_longest, (T, n) -> (n,); types = [Float64])
case(paths_places, (T, n) -> (values_of(T, 5), values_of(T, n)))
case(paths_places_of_pairs, (T, n) -> (values_of(T, 5), values_of(T, n)))
case(paths_best_of_called, (T, n) -> (values_of(T, n + 1),))
