# Names that loops and branches give new arrays, as functional time steps are written.

function anew_laplacian(u)
    L = zero(u)
    for i in 2:length(u)-1
        L[i] = u[i-1] - 2 * u[i] + u[i+1]
    end
    return L
end

anew_step(u, c) = u .+ c .* anew_laplacian(u)

# In place of its own array, by an expression, through another name, by a function.
@tessella function anew_by_expression(x, steps)
    u = copy(x)
    for t in 1:steps
        u = u .+ 2 .* anew_laplacian(u)
    end
    return u
end

@tessella function anew_by_name(x, steps)
    u = copy(x)
    for t in 1:steps
        next = u .+ 2 .* anew_laplacian(u)
        next[1] = next[end]
        u = next
    end
    return u
end

@tessella function anew_by_function(x, steps)
    u = copy(x)
    for t in 1:steps
        u = anew_step(u, 3)
    end
    return u
end

for f in (anew_by_expression, anew_by_name, anew_by_function), steps in (0, 1, 4)
    case(f, (T, n) -> (values_of(T, n + 1), steps))
end

# Shifted in itself: what is read elsewhere goes through memory of its own.
@tessella function anew_shifted(x, steps)
    u = copy(x)
    for t in 1:steps
        u = u[end:-1:1] .+ u
        u += u
    end
    return u
end

case(anew_shifted, (T, n) -> (values_of(T, n), 3))

# Written behind the assignment through both names, which mean one array.
@tessella function anew_both_names(x, steps)
    u = copy(x)
    s = zero(eltype(x))
    for t in 1:steps
        next = u .* 2
        u = next
        next[1] = 5
        s += u[1]
        u[end] = 7
        s += next[end]
    end
    return (u, s)
end

case(anew_both_names, (T, n) -> (values_of(T, n + 1), 3))

# Two arrays that depend on each other.
@tessella function anew_pair(x, y, steps)
    u, v = copy(x), copy(y)
    for t in 1:steps
        u, v = u .+ v, v .- anew_laplacian(u)
    end
    return u, v
end

case(anew_pair, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), 3))

@tessella function anew_pair_by_turns(x, y, steps)
    u, v = copy(x), copy(y)
    for t in 1:steps
        u = u .+ v
        v = v .- anew_laplacian(u)
    end
    return u .- v
end

case(anew_pair_by_turns, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), 3))

# Three levels of time: names take turns.
@tessella function anew_leapfrog(x, steps)
    u = copy(x)
    old = copy(x)
    for t in 1:steps
        new = 2 .* u .- old .+ anew_laplacian(u)
        old = u
        u = new
    end
    return u
end

@tessella function anew_leapfrog_at_once(x, steps)
    u = copy(x)
    old = copy(x)
    for t in 1:steps
        u, old = 2 .* u .- old .+ anew_laplacian(u), u
    end
    return u, old
end

@tessella function anew_leapfrog_of_arguments(u, old, steps)
    for t in 1:steps
        new = 2 .* u .- old .+ anew_laplacian(u)
        old, u = u, new
    end
    return u
end

for steps in (0, 1, 2, 3, 6)
    case(anew_leapfrog, (T, n) -> (values_of(T, n), steps))
    case(anew_leapfrog_at_once, (T, n) -> (values_of(T, n), steps))
end
for steps in (1, 2, 5)
    case(anew_leapfrog_of_arguments, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), steps))
end
# The loop does not run, or sizes differ: the original function gives back the argument, or throws.
case(anew_leapfrog_of_arguments, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), 0); targets = [:c])
case(anew_leapfrog_of_arguments, (T, n) -> (values_of(T, n), values_of(T, n + 1), 2); targets = [:c])

# The caller's array stays as it is.
@tessella function anew_argument(u, steps)
    for t in 1:steps
        u = u .* 3
        u[1] += 1
    end
    u[end] = 9
    return u
end

case(anew_argument, (T, n) -> (values_of(T, n + 1), 3))
case(anew_argument, (T, n) -> (values_of(T, n + 1), 0); targets = [:c])

@tessella function anew_argument_unread(u, steps)
    first = u
    for t in 1:steps
        u = u .+ first
    end
    return sum(u) + sum(first)
end

case(anew_argument_unread, (T, n) -> (values_of(T, n), 3); types = [Int64, Int32])

# The array that the name held before has another name.
@tessella function anew_kept(x, steps)
    u = copy(x)
    before = u
    for t in 1:steps
        before = u
        u = copy(before)
        for i in 2:length(u)
            u[i] = before[i] - before[i-1]
        end
    end
    return u, before
end

@tessella function anew_kept_outside(x, steps)
    u = copy(x)
    begin_with = u
    for t in 1:steps
        u = u .+ begin_with
    end
    return u, begin_with
end

for f in (anew_kept, anew_kept_outside), steps in (1, 2, 5)
    case(f, (T, n) -> (values_of(T, n), steps))
end

# Made before the loop, and made again in it.
@tessella function anew_outer_name(x, steps)
    u = copy(x)
    next = similar(u)
    for t in 1:steps
        next = u .* 2
        u = next
    end
    return u
end

for steps in (0, 1, 2, 5)
    case(anew_outer_name, (T, n) -> (values_of(T, n), steps))
end

# In branches.
@tessella function anew_in_branch(x, steps)
    u = copy(x)
    for t in 1:steps
        if t % 2 == 0
            u = u .+ 1
        else
            u = u .* 2
        end
    end
    if steps > 3
        u = -u
    end
    return u
end

for steps in (0, 1, 4, 5)
    case(anew_in_branch, (T, n) -> (values_of(T, n), steps))
end

# Until nothing changes any more.
@tessella function anew_until(x, most)
    u = copy(x)
    count = 0
    while count < most
        next = min.(2 .* u, 40)
        changed = sum(abs.(next .- u))
        u = next
        count += 1
        changed == 0 && break
    end
    return u, count
end

case(anew_until, (T, n) -> (values_of(T, n), 20); types = [Int64])

# Inside of functions that the function calls, whose argument the caller keeps.
function anew_smoothed(v, times)
    for k in 1:times
        v = v .+ anew_laplacian(v)
    end
    return v
end

@tessella function anew_in_called(x, steps)
    s = zero(x)
    for t in 1:steps
        s = s .+ anew_smoothed(x, 2)
    end
    return s .- x
end

case(anew_in_called, (T, n) -> (values_of(T, n), 3))

# Runge and Kutta.
anew_slope(u) = anew_laplacian(u) .- u

@tessella function anew_runge_kutta(x, dt, steps)
    u = copy(x)
    for t in 1:steps
        k1 = anew_slope(u)
        k2 = anew_slope(u .+ dt / 2 .* k1)
        k3 = anew_slope(u .+ dt / 2 .* k2)
        k4 = anew_slope(u .+ dt .* k3)
        u = u .+ dt / 6 .* (k1 .+ 2 .* k2 .+ 2 .* k3 .+ k4)
    end
    return u
end

case(anew_runge_kutta, (T, n) -> (values_of(T, n), T(0.125), 3); types = [Float32, Float64])

# Matrices, and complex numbers.
@tessella function anew_matrix(A, steps)
    B = copy(A)
    for t in 1:steps
        C = copy(B)
        for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
            C[i, j] = B[i-1, j] + B[i+1, j] + B[i, j-1] + B[i, j+1]
        end
        B = C
    end
    return B
end

case(anew_matrix, (T, n) -> (reshape(values_of(T, n * (n + 1)), n, n + 1), 3))

@tessella function anew_complex(x, steps)
    z = complex.(x, x)
    for t in 1:steps
        z = z .* z .+ x
    end
    return z
end

case(anew_complex, (T, n) -> (values_of(T, n), 2); types = [Float32, Float64])

# Whether the caller's array is given back is known only when the function has run.
@tessella function anew_while(u, least)
    while sum(abs.(u)) > least
        u = u ./ 2
    end
    return u
end

for least in (0.5, 1000)
    case(anew_while, (T, n) -> (values_of(T, n), T(least)))
end

@tessella function anew_if(u, more)
    if more > 0
        u = u .+ 1
    end
    u[end] = 3
    return u
end

@tessella function anew_either(u, v, more)
    w = u
    if more > 1
        w = u .+ v
    elseif more > 0
        w = v
    end
    return w
end

for more in (0, 1, 2)
    case(anew_if, (T, n) -> (values_of(T, n + 1), more))
    case(anew_either, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), more))
end

# The first iteration writes into the caller's array, the others do not.
@tessella function anew_written_first(u, steps)
    for t in 1:steps
        u[1] += 1
        u = u .* 2
    end
    return u
end

@tessella function anew_given_back(u, steps)
    old = u
    for t in 1:steps
        old = u
        u = u .+ 1
    end
    return old, u
end

for steps in (0, 1, 3)
    case(anew_written_first, (T, n) -> (values_of(T, n + 1), steps))
    case(anew_given_back, (T, n) -> (values_of(T, n), steps))
end

# Left in the middle.
@tessella function anew_left(u, steps, most)
    for t in 1:steps
        maximum(u) > most && break
        u = u .* 3
    end
    return u
end

for most in (-2, 1, 100)
    case(anew_left, (T, n) -> (values_of(T, n + 1), 4, T(most)))
end

@tessella function anew_returned(u, steps, most)
    for t in 1:steps
        maximum(u) > most && return u
        u = u .* 3
    end
    return u .- 1
end

for most in (-2, 1, 100)
    case(anew_returned, (T, n) -> (values_of(T, n + 1), 4, T(most)))
end

# A loop inside a loop.
@tessella function anew_nested(x, outer, inner)
    u = copy(x)
    for s in 1:outer
        for t in 1:inner
            u = u .+ s
        end
        u = u .* 2
    end
    return u
end

for inner in (0, 2)
    case(anew_nested, (T, n) -> (values_of(T, n), 3, inner))
end

@tessella function anew_nested_argument(u, outer, inner)
    for s in 1:outer
        for t in 1:inner
            u = u .+ s
        end
    end
    return u
end

for inner in (0, 2)
    case(anew_nested_argument, (T, n) -> (values_of(T, n), 2, inner))
end

# A part of the new array in another order is an array of its own; the new one has two names.
@tessella function anew_turned_part(x, y, steps)
    for t in 1:steps
        w = x .+ 1
        x = w[end:-1:1]
        y = w
    end
    return x, y
end

case(anew_turned_part, (T, n) -> (values_of(T, n), reverse(values_of(T, n)), 3))

# One name for two values: the last one counts.
anew_difference_and_first(p, q) = (p .- q, p)

@tessella function anew_one_name_twice(x, y)
    a = y
    a, a = -x, a[end:-1:1]
    b, b = anew_difference_and_first(a, x)
    return a, b
end

case(anew_one_name_twice, (T, n) -> (values_of(T, n), reverse(values_of(T, n))))

# Copies that every iteration needs for one name, and not for another, which stays the caller's array.
@tessella function anew_copy_in_one_branch(x, y, steps, most)
    for t in 1:steps
        y = x .+ 1
        if t > most
            x = x .+ 1
        end
    end
    return x, y
end

for most in (1, 5)
    case(anew_copy_in_one_branch, (T, n) -> (values_of(T, n), values_of(T, n), 3, most))
end

@tessella function anew_copy_exchanged(x, steps)
    a = x
    b = x .+ 1
    for t in 1:steps
        a = x .+ 2
        x, b = b, x
    end
    return x
end

for steps in (1, 2)
    case(anew_copy_exchanged, (T, n) -> (values_of(T, n), steps))
end

@tessella function anew_copy_left(x, y, steps, most)
    for t in 1:steps
        y = y .+ x
        maximum(x) > most && break
        x = x .* 2
    end
    return x, y
end

for most in (-2, 100)
    case(anew_copy_left, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1), 3, T(most)))
end

@tessella function anew_copy_of_inner_loop(x, y, steps, inner)
    for t in 1:steps
        y = y .+ x
        for s in 1:inner
            x = x .+ 1
        end
    end
    return x, y
end

for inner in (0, 2)
    case(anew_copy_of_inner_loop, (T, n) -> (values_of(T, n), values_of(T, n), 3, inner))
end

# What is stored into the array is seen through the name that begins with a copy of it, and the other way round.
@tessella function anew_copy_seen(x, steps)
    b = x
    s = zero(eltype(x))
    for t in 1:steps
        x[1] += 1
        s += b[1]
        b = x .+ 1
    end
    return s
end

@tessella function anew_copy_in_tuple(x, steps)
    b = x
    for t in 1:steps
        both = (b, 1)
        b = x .+ 1
        both[1][1] = 7
    end
    return b
end

@tessella function anew_copy_from_before(x, steps)
    before = copy(x)
    for t in 1:steps
        before[1] = 0
        before = x
        x = x .+ 1
    end
    return x, before
end

for f in (anew_copy_seen, anew_copy_in_tuple, anew_copy_from_before)
    case(f, (T, n) -> (values_of(T, n + 1), 3))
end

# Another name may mean the array on another path, which the statements between need not tell apart.
@tessella function anew_other_path(x, y, steps, inner)
    b = y
    a = b
    for t in 1:steps
        for s in 1:inner
            y = x .+ 1
        end
        a[2] = b[end] + 1
        a = x .+ 2
    end
    return y
end

for inner in (0, 2)
    case(anew_other_path, (T, n) -> (values_of(T, n + 2), values_of(T, n + 2), 3, inner))
end

@tessella function anew_chosen(x, y, steps)
    b = x
    c = x
    first = x
    for t in 1:steps
        c = c[end] > 0 ? first : b
        b = x .+ 1
        x .+= y
    end
    return c
end

for steps in (1, 2, 4)
    case(anew_chosen, (T, n) -> (values_of(T, n + 1), reverse(values_of(T, n + 1)), steps))
end

# The caller's array has the name that the called function gives new arrays.
function anew_smoothed_by_copies(u, b, times)
    for k in 1:times
        w = copy(u)
        for i in 2:length(u)-1
            w[i] = b[i] + u[i-1] + u[i+1]
        end
        u = w
    end
    return u
end

@tessella function anew_same_name_in_called(b, cycles)
    u = zero(b)
    for c in 1:cycles
        u = anew_smoothed_by_copies(u, b, 2)
        u = u .+ b
        u = anew_smoothed_by_copies(u, b, 2)
    end
    return u
end

case(anew_same_name_in_called, (T, n) -> (values_of(T, n), 2))

# Arrays of paths that are never taken.
@tessella function anew_never(x, steps)
    s = 0
    b = x .+ 1
    if s > 5
        b = x .+ b
        return b, 1
    end
    return x, steps
end

@tessella function anew_never_inside(x, steps)
    a = x
    if steps > 1
        if steps > 1
            a = x .+ 1
        end
        a = x .+ 2
    end
    for i in eachindex(a)
        a[i] += i
    end
    return a
end

for f in (anew_never, anew_never_inside), steps in (1, 2)
    case(f, (T, n) -> (values_of(T, n), steps))
end

# A function of the library beside one of that name inside the function.
@tessella function anew_by_full_name(x, steps)
    abs(v) = v .+ 1
    u = copy(x)
    for t in 1:steps
        u = abs(Base.abs.(u))
    end
    return u
end

case(anew_by_full_name, (T, n) -> (values_of(T, n), 3))

# Tuples of arrays as states.
@tessella function anew_state(x, steps)
    state = (copy(x), zero(x))
    for t in 1:steps
        u, v = state
        v = v .- u ./ 4
        state = (u .+ v, v)
    end
    return state
end

anew_next(state, h) = (state[1] .+ h .* state[2], state[2] .- h .* state[1])
@tessella function anew_state_by_function(x, h, steps)
    state = (x, zero(x))
    for t in 1:steps
        state = anew_next(state, h)
    end
    return sum(state[1]) + maximum(state[end])
end

@tessella function anew_named_state(x, steps)
    s = (place = copy(x), speed = zero(x), turn = 0)
    for t in 1:steps
        s.speed .-= s.place ./ 8
        s = (place = s.place .+ s.speed, speed = s.speed, turn = s.turn + 1)
    end
    return s.place, s.turn
end

function anew_settled(state, limit)
    while state[2] < limit
        state = (state[1] .* 2, state[2] + 1)
    end
    state
end
@tessella function anew_state_of_argument(x, limit)
    y, k = anew_settled((x, 0), limit)
    return y .+ k
end

@tessella function anew_state_by_paths(x, a)
    pair = (x, 2 .* x)
    if a > 0
        pair = (pair[2], pair[1] .+ a)
    end
    pair[1] .+= 1
    return pair
end

for steps in (1, 4)
    case(anew_state, (T, n) -> (values_of(T, n), steps))
    case(anew_state_by_function, (T, n) -> (values_of(T, n + 1), T(0.25), steps))
    case(anew_named_state, (T, n) -> (values_of(T, n), steps))
    case(anew_state_of_argument, (T, n) -> (values_of(T, n), steps))
    case(anew_state_by_paths, (T, n) -> (values_of(T, n), T(steps - 2)))
end
