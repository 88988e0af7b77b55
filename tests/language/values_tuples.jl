# Tuples: elements whose position is a variable, and loops over tuples; parts of ranges, `isempty`, `extrema`.

const STENCIL = (0.25, 0.5, -0.25)
const OFFSETS_X = (0, 1, 0, -1, 0)
const OFFSETS_Y = (0, 0, 1, 0, -1)

@tessella function tuples_weighted!(y, x)
    for i in 2:length(x)-1
        s = zero(eltype(y))
        for k in 1:3
            s += STENCIL[k] * x[i+k-2]
        end
        y[i] = s
    end
end

# Subscripts that differ by the element.
@tessella function tuples_of_offsets!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        s = zero(eltype(B))
        for q in eachindex(OFFSETS_X)
            s = 2s + A[i+OFFSETS_X[q], j+OFFSETS_Y[q]]
        end
        B[i, j] = s
    end
end

@tessella function tuples_pulled!(g, f)
    m, n, Q = size(f)
    for q in 1:Q, j in 2:n-1, i in 2:m-1
        g[i, j, q] = f[i-OFFSETS_X[q], j-OFFSETS_Y[q], q]
    end
end

# Outside for the last iterations: Julia's BoundsError.
@tessella function tuples_outside!(y)
    for i in eachindex(y)
        y[i] = STENCIL[i]
    end
end

@tessella function tuples_by_data!(y, k)
    t = (10, 20, 40)
    for i in eachindex(k)
        y[i] = t[k[i]]
    end
end

@tessella function tuples_gone_through!(y, x)
    for w in STENCIL, i in eachindex(x)
        y[i] = 2y[i] + w * x[i]
    end
    for (a, b) in ((1, 2), (3, 5))
        n = a + b
        for i in 1:min(n, length(x))
            y[i] += b
        end
    end
    for (q, w) in enumerate(STENCIL)
        w < 0 && continue
        for i in eachindex(y)
            y[i] += q * w
        end
    end
end

@tessella function tuples_zipped!(B, A)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        s = zero(eltype(B))
        for (dx, dy, w) in zip(OFFSETS_X, OFFSETS_Y, (1, 2, 3, 4, 5))
            if w == 4
                continue
            end
            s += w * A[i+dx, j+dy]
        end
        B[i, j] = s
    end
end

@tessella function tuples_of_arrays!(u, v)
    total = zero(eltype(u))
    for A in (u, v)
        for i in eachindex(A)
            A[i] += 1
            total += A[i]
        end
        total == 3 && break
        total *= 2
    end
    return total
end

@tessella function ranges_in_part!(B, A)
    for j in axes(A, 2)[2:end-1], i in axes(A, 1)[2:end-1]
        B[i, j] = A[i-1, j] + A[i+1, j] - 2A[i, j-1]
    end
    inner = (1:length(B))[3:end]
    return first(inner)
end

@tessella function ranges_outside(x)
    s = zero(eltype(x))
    for i in eachindex(x)[1:2]
        s += x[i]
    end
    return s
end

@tessella function empty_or_extrema(x, A)
    isempty(x) && return zero(eltype(x)), zero(eltype(x)), isempty(A)
    lo, hi = extrema(x)
    return hi, lo, isempty(A) || isempty(1:length(x)-1)
end

@tessella function position_as_tuple!(B, A)
    for I in CartesianIndices(A)
        i, j = Tuple(I)
        for k in 1:2
            B[I] += 10 * I[k] + i - j
        end
        B[I] += A[i, j]
    end
    return B
end

case(tuples_weighted!, (T, n) -> (zeros(T, n), values_of(T, n)); types = [Float64])
case(tuples_of_offsets!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))
case(tuples_pulled!, (T, n) -> (zeros(T, n, n, 5), values_of(T, n, n, 5)); types = [Float64])
case(tuples_outside!, (T, n) -> (zeros(T, n),); types = [Float64])
case(tuples_by_data!, (T, n) -> (zeros(Int, n), Int[mod1(k, 3) for k in 1:n]); types = [Float64])
case(tuples_by_data!, (T, n) -> (zeros(Int, n), collect(1:n)); types = [Float64])
case(tuples_gone_through!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(tuples_zipped!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))
case(tuples_of_arrays!, (T, n) -> (values_of(T, n), values_of(T, n + 1)))
case(ranges_in_part!, (T, n) -> (zeros(T, n + 1, n + 1), values_of(T, n + 1, n + 1)); types = [Float64])
case(ranges_outside, (T, n) -> (values_of(T, n),); types = [Float64])
case(empty_or_extrema, (T, n) -> (values_of(T, n), values_of(T, n, 2)))
case(position_as_tuple!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))

# Tuples of tuples, parts of tuples, tuples by a function, steps that a tuple gives.

const OFFSETS = ((0, 1), (1, 0), (-1, 2))

@tessella function tuple_of_tuples!(A, k::Vector{Int})
    for i in eachindex(A)
        dx, dy = OFFSETS[k[i]]
        A[i] += dx + 10dy
    end
end

case(tuple_of_tuples!, (T, n) -> (values_of(T, n), Int[1 + k % 3 for k in 1:n]))
case(tuple_of_tuples!, (T, n) -> (values_of(T, n), Int[1 + k % 4 for k in 1:n]))

@tessella function tuple_parts!(A)
    m, n = size(A)[1:2]
    t = (m, n, 7)[2:end]
    for j in 1:t[1], i in 1:m
        A[i, j, 1] += t[2] + length((t..., 1))
    end
end

case(tuple_parts!, (T, n) -> (values_of(T, n, n + 1, 2),))

column_of(A, j) = ntuple(v -> A[v, j], 3)
@tessella function tuple_by_function_of_two!(A)
    for j in axes(A, 2)
        t = column_of(A, j)
        A[1, j] = t[2] - t[3]
        A[2, j] = ntuple(k -> k * t[1], 2)[2]
    end
end

case(tuple_by_function_of_two!, (T, n) -> (values_of(T, 3, n),))

@tessella function steps_of_tuples!(x)
    n = length(x)
    for (m, stride) in ((4, 1), (2, 2), (1, 4))
        for k in 0:2m:n-2m
            for j in 0:m-1
                a, b = x[k+j+1], x[k+j+m+1]
                x[k+j+1] = a + b
                x[k+j+m+1] = (a - b) * stride
            end
        end
    end
end

case(steps_of_tuples!, (T, n) -> (values_of(T, n),))

# Julia assigns a name at once if it becomes a literal, or a name that nothing else here changes.
@tessella function assigned_at_once!(A, n)
    A[n], n = 5, 1
    A[n] += 10
    A[n], n = n, 2
    A[n] += 20
    return n
end
case(assigned_at_once!, (T, n) -> (values_of(T, n), n))
case(assigned_at_once!, (T, n) -> (values_of(T, n + 2), n))

@tessella function assigned_in_turn!(A, n, m)
    A[n], n = A[m], m
    A[n] += 1
    n, A[n] = m + 0, 3
    A[n], n, A[n] = 4, 2, A[1]
    A[1], n = n, -n
    A[2], m, n = m, n, m
    return n, m
end
case(assigned_in_turn!, (T, n) -> (values_of(T, n + 2), 1, 2))
case(assigned_in_turn!, (T, n) -> (values_of(T, n), n, n))

@tessella function assigned_twice(n)
    a, b = n, 2n
    a, b, a = b, a, 3
    c = 1
    (a, c), b = (c, b), a
    return a, b, c
end
case(assigned_twice, (T, n) -> (n,); types = DataType[Float64])

@tessella function assigned_array_at_once!(A, B)
    A[1], A = 5, B
    A[2] = 7
    return nothing
end
case(assigned_array_at_once!, (T, n) -> (values_of(T, n), zeros(T, n)))

@tessella function assigned_in_loop!(A)
    for k in 1:2
        i = k
        A[i], i = A[i+1], 3
        A[i] += 10
    end
    return nothing
end
case(assigned_in_loop!, (T, n) -> (values_of(T, n),))

# Tuples of numbers as the state of a loop: each element is a variable.
@tessella function states_of_a_loop(x, n)
    u = (x[1], x[2])
    for t in 1:n
        u = (u[2], -u[1])
        u[1] > 10 && break
    end
    return u
end

@tessella function states_exchanged(x, n)
    u = (x[1], x[2])
    v = (3 * x[1], x[1])
    for t in 1:n
        u, v = v, u
        if t % 3 == 0
            u = (u[1] + v[1], u[2])
        end
        a, b = u
        u = (b, a)
        x[1], u = u[1], (a, x[2])
    end
    return u, v
end

@tessella function states_held(x, n)
    u = (x[1], x[2])
    keep = u
    for t in 1:n
        before = u
        u = (u[2] + before[1], u[1])
        w = (u, before)
        u = t == 2 ? w[2] : w[1]
        keep = t == 1 ? before : keep
        y = x .+ u[1]
        u = (u[2], y[2] + sum(q * u[2] for q in x))
    end
    return u, keep, maximum(u), length(u), u .+ 1
end

@tessella function states_in_branches(x)
    local u
    if x[1] > 0
        u = (x[1], x[2])
    elseif x[1] < -0.25
        u = (x[1], 3 * x[1])
        u = (u[2], u[1])
    else
        u = (x[2], x[2])
    end
    v = u
    for k in 1:2
        u = (v[k], u[1])
    end
    t = (1, 2)
    a = t[1]
    t = (x[1], x[2], 3)
    return u[1] - u[2] + 10 * v[2] + a * t[3] * t[1]
end

@tessella function states_iterated(x, n)
    u = (x[1], x[2])
    for k in 1:n
        for a in u
            u = (a + 1, u[1])
        end
        for (i, a) in enumerate(u)
            u = (u[2] * i, a)
        end
        for (a, b) in zip(u, (2, 3))
            u = (u[2] + b, a / 4)
        end
    end
    return u
end

@tessella function states_named(a, b)
    state = (a = a, b = b)
    while state.b != 0
        state = (a = state.b, b = state.a % state.b)
    end
    return state.a, state
end

@tessella function state_of_a_search(A)
    B = zeros(eltype(A), size(A))
    for j in axes(A, 2)
        st = (lo = typemax(eltype(A)), hi = typemin(eltype(A)), at = 0)
        for i in axes(A, 1)
            v = A[i, j]
            v > st.hi && (st = (lo = st.lo, hi = v, at = i))
            if v < st.lo
                st = (lo = v, hi = st.hi, at = st.at)
            end
            B[i, j] = st.hi - st.lo + st.at
        end
    end
    return B
end

turned_back(u) = (u = (u[1] + 1, u[2]); u[1] > 2 && return u; (u[2], u[1]))

@tessella function states_passed(x, n)
    u = (x[1], x[2])
    same = other = u
    for i in 1:n
        u = turned_back(u)
        u = turned_back((u[2], u[1]))
        same = turned_back(other)
        other = (same[2], u[1])
    end
    return u, same, other
end

oscillation(u) = (u[2], -u[1])
function runge_kutta(u, h)
    k1 = oscillation(u)
    k2 = oscillation(u .+ (h / 2) .* k1)
    k3 = oscillation(u .+ (h / 2) .* k2)
    k4 = oscillation(u .+ h .* k3)
    return u .+ (h / 6) .* (k1 .+ 2 .* k2 .+ 2 .* k3 .+ k4)
end

@tessella function ensemble_of_states!(y, h, n)
    for e in axes(y, 2)
        u = (y[1, e], y[2, e])
        for t in 1:n
            u = runge_kutta(u, h)
            abs(u[1]) > 4 && break
        end
        y[1, e], y[2, e] = u
    end
    return nothing
end

for f in (states_of_a_loop, states_exchanged, states_held, states_iterated, states_passed)
    case(f, (T, n) -> (values_of(T, 3), n))
end
for first in (-1, 0, 1)
    case(states_in_branches, (T, n) -> (T[first, n, 2],))
end
case(states_named, (T, n) -> (12n, 18); types = [Int])
case(states_named, (T, n) -> (n, 0); types = [Int])
case(state_of_a_search, (T, n) -> (values_of(T, n, 3),))
case(ensemble_of_states!, (T, n) -> (values_of(T, 2, n), T(0.01), n))

# Functions of all elements of tuples.
limited(v) = v > 1 ? v : 2v

@tessella function tuple_broadcasts(x)
    t = (x[1], x[2], x[3])
    a = limited.(t)
    b = sqrt.(abs.(t))
    c = (v -> 2v + x[1]).(t)
    d = max.(t, (x[3], x[1], x[2]))
    e = clamp.(t .+ 1, 0, 1)
    return a, b, c, d, e, sum(abs2.(t)), maximum(abs.(t .- a))
end
case(tuple_broadcasts, (T, n) -> (values_of(T, 3) .+ T(n) / 8,))

@tessella function tuple_maps(x, n)
    t = (x[1], x[2], x[3])
    a = map(limited, t)
    b = map(sqrt, map(abs, t))
    c = map(v -> 2v + n, t)
    d = map(max, t, (x[3], x[1], x[2]))
    e = map((p, q) -> p + 10q, t, a)
    f = map(Int32, (n, 2))
    for k in 1:n
        t = map((p, q) -> p + q / 2, t, a)
        a = limited.(a .- 1)
    end
    return a, b, c, d, e, f, sum(map(abs2, t)), t
end
case(tuple_maps, (T, n) -> (values_of(T, 3), n))

@tessella function coarser(A)
    m, n = cld.(size(A), 2)
    B = zeros(eltype(A), m, n)
    for j in 1:n, i in 1:m
        i1, j1 = min.((2i, 2j), size(A))
        B[i, j] = (A[2i-1, 2j-1] + A[i1, j1]) / 2
    end
    return B, map(k -> k + 1, size(B))
end
case(coarser, (T, n) -> (values_of(T, n, 2n),))

# States that a helper goes on with.
function gone_on(u, n)
    for t in 1:n
        u[1] > 2 && return u
        u = oscillation(u .+ 1)
    end
    return u
end
function counted_up(state; most = 3)
    while state.count < most
        state = (count = state.count + 1, sum = state.sum * 2)
    end
    return state
end

@tessella function states_of_helpers(x, n)
    u = (x[1], x[2])
    v = gone_on(u, n)
    w = gone_on((v[1], u[2]), 2)
    u = gone_on(u, 1)
    c = counted_up((count = 0, sum = x[1]))
    d = counted_up((count = c.count, sum = c.sum); most = n)
    return u, v, w, c, d.sum
end
case(states_of_helpers, (T, n) -> (values_of(T, 3), n))

# Vectors, parts of arrays and ranges that are taken apart.
@tessella function apart_vector(u, dt)
    x, y, z = u
    v = similar(u)
    v[1] = x + dt * (10 * (y - x))
    v[2] = y + dt * (x * (28 - z) - y)
    v[3] = z + dt * (x * y - 2 * z)
    return v
end
function apart_lorenz(u)
    x, y, z = u
    return [10 * (y - x), x * (28 - z) - y, x * y - 2 * z]
end
@tessella function apart_steps(u0, steps)
    u = copy(u0)
    for t in 1:steps
        u = u .+ apart_lorenz(u) ./ 128
    end
    a, b = u
    return a, b, u
end
@tessella function apart_columns(A)
    s = zero(eltype(A))
    for j in axes(A, 2)
        x, y = view(A, :, j)
        p, q = A[2:3, j]
        s += x * y - p / 2 + q
    end
    first, second = 5:2:9
    return s, first, second
end
@tessella function apart_exchanged(u)
    u[1], u[2] = u[2:3]
    z, w = (complex(u[1], u[2]), complex(u[2], u[1]))
    c, d = [z, w] .* 2
    return (real(c), imag(d))
end
@tessella function apart_too_many(u)
    x, y, z = u
    return x + y + z
end
case(apart_vector, (T, n) -> (values_of(T, 3), T(0.25)))
case(apart_steps, (T, n) -> (values_of(T, 3), n))
case(apart_columns, (T, n) -> (values_of(T, 3, n),))
case(apart_exchanged, (T, n) -> (values_of(T, 3),))
case(apart_too_many, (T, n) -> (values_of(T, n),); targets = [:c])
