# Names that exchange arrays where data or branches say how often: which array a name means depends on the path.

# Until it converges.
@tessella function exchange_until!(A, B, tol)
    n = length(A)
    err = 2tol
    sweeps = 0
    while err > tol
        err = 0.0
        for i in 2:n-1
            B[i] = (A[i-1] + A[i+1]) / 2
            err = max(err, abs(B[i] - A[i]))
        end
        A, B = B, A
        sweeps += 1
    end
    A[1] += 1
    return sweeps
end
case(exchange_until!, (T, n) -> (values_of(T, n), values_of(T, n), 0.05))

# With a bound, returning the array.
@tessella function exchange_until_or_most!(A, B, tol, most)
    n = length(A)
    sweeps = 0
    err = 2tol
    while err > tol && sweeps < most
        err = 0.0
        for i in 2:n-1
            B[i] = (A[i-1] + A[i+1]) / 2
            err = max(err, abs(B[i] - A[i]))
        end
        A, B = B, A
        sweeps += 1
    end
    return A, sweeps, err
end
for most in (0, 1, 2, 7)
    case(exchange_until_or_most!, (T, n) -> (values_of(T, n), values_of(T, n), 0.05, most))
end

# A `break` after the exchange, and before it.
@tessella function exchange_then_break!(A, B, tol, most)
    n = length(A)
    for t in 1:most
        e = 0.0
        for i in 2:n-1
            B[i] = (A[i-1] + A[i+1]) / 2
            e = max(e, abs(A[i] - B[i]))
        end
        A, B = B, A
        e < tol && break
    end
    return A
end
@tessella function break_then_exchange!(u, v, tol, most)
    n = length(u)
    r = 0.0
    for t in 1:most
        r = 0.0
        for i in 2:n-1
            v[i] = (u[i-1] + u[i+1]) / 2
            r += abs(u[i] - v[i])
        end
        if r < tol
            v[1] = t
            break
        end
        u, v = v, u
        r > 100 && return nothing
    end
    (u[1], v[1], r)
end
for most in (0, 1, 2, 5)
    case(exchange_then_break!, (T, n) -> (values_of(T, n), zeros(T, n), 0.3, most))
    case(break_then_exchange!, (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), 0.3, most))
end

# Out of the function.
@tessella function exchange_and_return!(A, B, most, tol)
    for t in 1:most
        e = 0.0
        for i in 2:length(A)-1
            B[i] = (A[i-1] + A[i+1]) / 2
            e = max(e, abs(A[i] - B[i]))
        end
        A, B = B, A
        e < tol && return A, t
    end
    A, most
end
case(exchange_and_return!, (T, n) -> (values_of(T, n), zeros(T, n), 5, 0.3))

# Three arrays, `while true`.
@tessella function three_until!(x, y, z, tol, most)
    n = length(x)
    k = 0
    while true
        k += 1
        e = 0.0
        for i in 1:n
            z[i] = (x[i] + y[i]) / 2
            e = max(e, abs(z[i] - y[i]))
        end
        x, y, z = y, z, x
        (e < tol || k >= most) && break
    end
    return k, y
end
for most in 1:4
    case(three_until!, (T, n) -> (values_of(T, n), zeros(T, n), ones(T, n), 0.1, most))
end

# An array that the function makes, through a temporary.
@tessella function copy_until(A, tol, most)
    B = copy(A)
    for t in 1:most
        e = 0.0
        for i in 2:length(A)-1
            B[i] = (A[i-1] + A[i+1]) / 2
            e = max(e, abs(B[i] - A[i]))
        end
        tmp = A
        A = B
        B = tmp
        e < tol && break
    end
    s = 0.0
    for i in eachindex(A)
        s += A[i]
    end
    s
end
case(copy_until, (T, n) -> (values_of(T, n), 0.3, 6))

# Complex arrays.
@tessella function exchange_complex!(u, v, most, tol)
    n = length(u)
    for t in 1:most
        e = 0.0
        for i in 1:n
            v[i] = u[i] * 0.5im
            e += abs2(v[i])
        end
        u, v = v, u
        e < tol && break
    end
    u
end
case(exchange_complex!, (T, n) -> (Complex.(values_of(Float64, n), 1.0), zeros(ComplexF64, n), 5, 0.5); types = DataType[Float64])

# Under a condition on an argument, and on data.
@tessella function exchange_if!(A, B, f)
    if f
        A, B = B, A
    end
    for i in eachindex(A)
        A[i] = B[i] + 1
    end
    A
end
for f in (true, false)
    case(exchange_if!, (T, n) -> (values_of(T, n), ones(T, n), f))
end

@tessella function accepted_steps!(x, y, e)
    n = length(x)
    accepted = 0
    for t in eachindex(e)
        s = 0.0
        for i in 1:n
            y[i] = x[i] * 0.5 + e[t]
            s += y[i]
        end
        if s < 1
            x, y = y, x
            accepted += 1
        end
    end
    return x, accepted
end
case(accepted_steps!, (T, n) -> (values_of(T, n), zeros(T, n), values_of(T, 5)))

@tessella function continue_before_exchange!(x, y, e)
    n = length(x)
    for t in eachindex(e)
        for i in 1:n
            y[i] = x[i] * 0.5 + e[t]
        end
        e[t] > 0 && continue
        x, y = y, x
    end
    for i in 1:n
        x[i] += 3 * y[i]
    end
end
@tessella function exchange_unless!(A, B, n)
    A[1] > 1 || (B[1] > 1 && ((A, B) = (B, A)))
    A[1] += 50
    for t in 1:n
        A[t] > B[t] || begin
            if A[t] < 1
                A, B = B, A
            end
        end
        A[t] += t
    end
    return nothing
end

@tessella function renamed_behind_a_choice!(A, B, C, n)
    Y = A
    for w in 1:n-1
        Y[1] += 3
        for p in w:n
            Y = C
            Y = n > 3 ? B : A
            B = A
        end
    end
    A[1] += 100
    B[2] -= 50
    Y[2] *= 3
    return nothing
end

case(continue_before_exchange!, (T, n) -> (values_of(T, n), zeros(T, n), values_of(T, 5)))

# Chosen by the step.
@tessella function source_and_target!(A, B, steps)
    n = length(A)
    for t in 1:steps
        from, to = isodd(t) ? (A, B) : (B, A)
        for i in 2:n-1
            to[i] = (from[i-1] + from[i+1]) / 2
        end
    end
    A
end
for steps in 0:3
    case(source_and_target!, (T, n) -> (values_of(T, n), zeros(T, n), steps))
end

@tessella function one_of_two_summed!(x, y, f)
    z = f > 0.5 ? x : y
    s = 0.0
    for i in eachindex(z)
        s += z[i]
        z[i] = 0
    end
    s
end
for f in (0.2, 0.7)
    case(one_of_two_summed!, (T, n) -> (values_of(T, n), ones(T, n), f))
end

# A loop that exchanges inside of one whose rest depends on how often.
@tessella function substeps!(A, B, C, steps, substeps)
    for t in 1:steps
        for s in 1:substeps
            for i in 2:length(A)-1
                B[i] = A[i-1] + A[i+1]
            end
            A, B = B, A
        end
        C[1] += A[1]
    end
    A
end
for substeps in 0:3
    case(substeps!, (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), zeros(T, 1), 3, substeps))
end

@tessella function substeps_at_first!(x, y, steps, substeps)
    n = length(x)
    for t in 1:steps
        if t < 3
            for s in 1:substeps
                for i in 1:n
                    y[i] = x[i] + t
                end
                x, y = y, x
            end
        end
    end
    x
end
for substeps in 0:3, steps in (0, 2, 4)
    case(substeps_at_first!, (T, n) -> (values_of(T, n), zeros(T, n), steps, substeps))
end

@tessella function exchange_in_branches!(x, y, f)
    n = length(x)
    if f > 0
        for t in 1:f
            for i in 1:n
                y[i] = x[i] + t
            end
            x, y = y, x
        end
    else
        x, y = y, x
    end
    x[1] += 1
    y[1] -= 1
    x
end
for f in -1:3
    case(exchange_in_branches!, (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), f))
end

# Two loops that exchange arrays of their own, used together afterwards.
@tessella function two_exchanges!(u, v, c, d, steps)
    n = length(u)
    for t in 1:steps
        for i in 1:n
            v[i] = u[i] + 1
        end
        u, v = v, u
    end
    for t in 1:steps+1
        for i in 1:n
            d[i] = 2 * c[i]
        end
        c, d = d, c
    end
    for i in 1:n
        u[i] += c[i]
    end
    u
end
for steps in 0:3
    case(two_exchanges!, (T, n) -> (values_of(T, n), zeros(T, n), ones(T, n), zeros(T, n), steps))
end

# Two iterators.
@tessella function exchange_in_two_loops!(u, v, steps)
    n = length(u)
    a, b = u, v
    for t in 1:steps, k in 1:2
        for i in 1:n
            b[i] = a[i] + k
        end
        a, b = b, a
    end
    a
end
for steps in 0:3
    case(exchange_in_two_loops!, (T, n) -> (values_of(T, n), zeros(T, n), steps))
end

# A closure sees what the names mean when it is called.
@tessella function exchange_under_closure!(u, v, steps)
    first_of_u(k) = u[k]
    n = length(u)
    for t in 1:steps
        for i in 1:n
            v[i] = u[i] + 1
        end
        u, v = v, u
    end
    s = first_of_u(1)
    return s
end
for steps in 0:3
    case(exchange_under_closure!, (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), steps))
end
case(renamed_behind_a_choice!, (T, n) -> (values_of(T, n + 2), values_of(T, n + 2), values_of(T, n + 2), n))
case(exchange_unless!, (T, n) -> (values_of(T, n + 1), values_of(T, n + 1), n))
