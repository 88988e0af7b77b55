# Arrays that a condition chooses where they are stored, and sizes that are spread out.

@tessella chosen_or_negated!(z, x, c::Bool) = (z .= c ? x : -x; nothing)
@tessella chosen_in_broadcast!(z, x, c::Bool) = (z .= 2 .* (c ? x : -x) .+ 1; nothing)
@tessella chosen_of_two!(z, x, y, c::Bool) = (z .= z .+ (c ? x : y); nothing)
@tessella chosen_added!(z, x, n::Int) = (z .+= n > 1 ? x : 2x; nothing)
@tessella chosen_by_if!(z, x, c::Bool) = (z .= if c x else -x end; nothing)
@tessella chosen_into_part!(z, x, c::Bool) = (z[2:end] = c ? x[2:end] : x[1:end-1]; nothing)
@tessella chosen_or_number!(z, x, c::Bool) = (z .= c ? 0 : x; nothing)
@tessella chosen_at_dots!(z, x, c::Bool) = (@. z = c ? x : -x; nothing)
@tessella chosen_for_sum!(z, x, y, c::Bool) = (z[1] = sum(c ? x : y); nothing)
@tessella chosen_of_three!(z, x, y, n::Int) = (z .= n < 2 ? x : n < 3 ? y : x .* y; nothing)
@tessella chosen_twice!(z, x, y, c::Bool, d::Bool) = (z .= (c ? x : y) .- (d ? x : y); nothing)
@tessella chosen_given_back!(z, x, c::Bool) = (z .= c ? x : -x)

# The condition is what it was before anything is stored.
@tessella chosen_by_itself!(x) = (x .= x[1] > 0 ? x ./ 2 : -x; nothing)
@tessella chosen_by_target!(z, x) = (z .= z[end] > 0 ? x : z .+ x; nothing)

@tessella function chosen_for_each!(z, x)
    for j in axes(z, 2)
        z[:, j] = x[j] > 0 ? x : 2 .* x
    end
end

case(chosen_or_negated!, (T, n) -> (zeros(T, n), values_of(T, n), true))
case(chosen_or_negated!, (T, n) -> (zeros(T, n), values_of(T, n), false))
case(chosen_or_negated!, (T, n) -> (zeros(T, n), values_of(T, n + 2), false); types = [Float64])
case(chosen_in_broadcast!, (T, n) -> (zeros(T, n), values_of(T, n), n % 2 == 0))
# The other array has another size: that matters only where it is chosen.
case(chosen_of_two!, (T, n) -> (values_of(T, n), values_of(T, n), values_of(T, n + 1), n != 3))
case(chosen_added!, (T, n) -> (values_of(T, n), values_of(T, n), n))
case(chosen_by_if!, (T, n) -> (zeros(T, n), values_of(T, n), n % 2 == 0))
case(chosen_into_part!, (T, n) -> (zeros(T, n), values_of(T, n), n % 2 == 0))
case(chosen_or_number!, (T, n) -> (values_of(T, n), values_of(T, n), n % 2 == 0))
case(chosen_at_dots!, (T, n) -> (zeros(T, n), values_of(T, n), n % 2 == 0))
case(chosen_for_sum!, (T, n) -> (zeros(T, n), values_of(T, n), values_of(T, 2), n % 2 == 0))
case(chosen_of_three!, (T, n) -> (zeros(T, n), values_of(T, n), -values_of(T, n), n))
case(chosen_twice!, (T, n) -> (zeros(T, n), values_of(T, n), -2values_of(T, n), n % 2 == 0, n > 2))
case(chosen_given_back!, (T, n) -> (zeros(T, n), values_of(T, n), n % 2 == 0))
case(chosen_by_itself!, (T, n) -> (values_of(T, n),))
case(chosen_by_itself!, (T, n) -> (-values_of(T, n),))
case(chosen_by_target!, (T, n) -> (values_of(T, n), values_of(T, n)))
case(chosen_for_each!, (T, n) -> (zeros(T, n, n), values_of(T, n)))

# Names, which are chosen as they stand: elements are stored, and nothing gets another name.
@tessella chosen_of_names!(z, x, y, c::Bool) = (z .= c ? x : y; nothing)
@tessella chosen_of_names_added!(z, x, y, c::Bool) = (z .+= c ? x : y; z)
@tessella chosen_of_itself!(z, x, c::Bool) = (z .= c ? z : x; z .*= 2; nothing)
for c in (false, true)
    case(chosen_of_names!, (T, n) -> (zeros(T, n), values_of(T, n), -2values_of(T, n), c))
    case(chosen_of_names_added!, (T, n) -> (values_of(T, n), values_of(T, n), -2values_of(T, n), c))
    case(chosen_of_itself!, (T, n) -> (values_of(T, n), -2values_of(T, n), c))
end

# Names for what is chosen: a new array, or one that has a name already.
@tessella function chosen_new_sum(z, x, y, c::Bool)
    z += c ? x : y
    z[end] = 3
    return z
end
@tessella function chosen_new_or_old(x, a)
    y = a > 0 ? x .+ a : x
    y[1] = 7
    return (sum(y), x)
end
@tessella function chosen_in_sums(x, y, c::Bool)
    s = sum(c ? x : 2 .* y)
    t = if c
        x .* y
    else
        y
    end
    return s + maximum(t) + sum(c ? t : x)
end
@tessella chosen_at_the_end(x, y, c::Bool) = 2 * sum(c ? x : y) + 1
@tessella function chosen_new_in_loop(x, a, steps)
    u = copy(x)
    for t in 1:steps
        u = isodd(t) ? u .* a : u .+ 1
    end
    return u
end
@tessella function chosen_again(x, y, c::Bool, d::Bool)
    a, b = c ? (x, y) : (y, x)
    m = d ? a .- b : b
    return m .+ a
end
for c in (false, true)
    case(chosen_new_sum, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1), -2values_of(T, n + 1), c))
    case(chosen_new_or_old, (T, n) -> (values_of(T, n + 1), T(c - 0.5)))
    case(chosen_in_sums, (T, n) -> (values_of(T, n + 1), -2values_of(T, n + 1), c))
    case(chosen_at_the_end, (T, n) -> (values_of(T, n), -2values_of(T, n), c))
    case(chosen_again, (T, n) -> (values_of(T, n), -2values_of(T, n), c, n > 1))
end
case(chosen_new_in_loop, (T, n) -> (values_of(T, n), T(0.75), n))

@tessella function spread_sizes!(z, A)
    z[1] = min(size(A)...)
    z[2] = max(3, size(A)...)
    z[3] = +(size(A)..., 1)
    z[4] = minimum(size(A)) + maximum(size(A))
    z[5] = prod(size(A)) - sum(size(A))
    for i in 1:min(size(A)...)
        z[6] += A[i, i]
    end
    t = (2, 7)
    z[7] = *(t..., t...)
end
case(spread_sizes!, (T, n) -> (zeros(T, 7), values_of(T, n, 5)))

@tessella spread_single(x) = (minimum(size(x)), prod(size(x)))
case(spread_single, (T, n) -> (values_of(T, n),))

# Two new arrays, and such of different sizes, which the original function makes.
@tessella function chosen_both_new!(x, m)
    w = m == 1 ? x .* 2 : x .+ 1
    x .+= w
    return x
end
case(chosen_both_new!, (T, n) -> (values_of(T, n), 1))
case(chosen_both_new!, (T, n) -> (values_of(T, n), 2))
@tessella function chosen_of_two_sizes(x, y, m)
    a = m == 1 ? y .+ 1 : x .* 2
    return a
end
for m in (1, 2)
    case(chosen_of_two_sizes, (T, n) -> (values_of(T, n), values_of(T, n + 1), m); targets = [:c])
end
