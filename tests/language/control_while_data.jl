# `while` that data end.

# The data come first in the condition.
@tessella function while_condition_first(x, most)
    z = x
    err = 1.0
    turns = 0
    while err > 1e-12 && turns < most
        next = (z + x / z) / 2
        err = abs(next - z)
        z = next
        turns += 1
    end
    return z, turns
end
case(while_condition_first, (T, n) -> (1.0 + n, 50); types = DataType[Float64])
case(while_condition_first, (T, n) -> (1.0 + n, 3); types = DataType[Float64])

@tessella function while_converging!(B, A, tol, most)
    m, n = size(A)
    err = 2tol
    sweeps = 0
    while err > tol && sweeps < most
        err = 0.0
        for j in 2:n-1, i in 2:m-1
            B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            err = max(err, abs(B[i, j] - A[i, j]))
            A[i, j] = B[i, j]
        end
        sweeps += 1
    end
    return sweeps, err
end
for most in (0, 30, 100000)
    case(while_converging!, (T, n) -> (zeros(n, n), values_of(Float64, n, n), 1e-3, most); types = DataType[Float64])
end

@tessella function while_relaxing!(u, tol)
    n = length(u)
    err = 1.0
    sweeps = 0
    while err > tol
        err = 0.0
        for i in 2:n-1
            new = (u[i-1] + u[i+1]) / 2
            err = max(err, abs(new - u[i]))
            u[i] = new
        end
        sweeps += 1
    end
    return sweeps
end
case(while_relaxing!, (T, n) -> (values_of(Float64, n), 1e-3); types = DataType[Float64])

@tessella function while_newton!(x, a)
    for i in eachindex(x)
        z = a[i]
        while abs(z * z - a[i]) > 1e-10
            z = 0.5 * (z + a[i] / z)
        end
        x[i] = z
    end
    return nothing
end
case(while_newton!, (T, n) -> (zeros(n), 1 .+ abs.(values_of(Float64, n))); types = DataType[Float64])

@tessella function while_collatz(n)
    count = 0
    while n > 1
        n = iseven(n) ? n ÷ 2 : 3n + 1
        count += 1
    end
    return count
end
case(while_collatz, (T, n) -> (n,); types = DataType[Float64])

@tessella function while_doubling(n)
    p = 1
    while p < n
        p *= 2
    end
    return p
end
case(while_doubling, (T, n) -> (n,); types = DataType[Float64])

@tessella function while_in_time!(u, stop, dt)
    t = 0.0
    n = length(u)
    while t < stop
        for i in 2:n-1
            u[i] += dt * (u[i-1] - 2u[i] + u[i+1])
        end
        t += dt
    end
    return t
end
case(while_in_time!, (T, n) -> (values_of(Float64, n), 1.0, 0.07); types = DataType[Float64])

@tessella function while_between_pointers!(y, rowptr, x)
    for i in eachindex(y)
        k = rowptr[i]
        s = zero(eltype(x))
        while k < rowptr[i+1]
            s += x[k]
            k += 1
        end
        y[i] = s
    end
    return nothing
end
case(while_between_pointers!, (T, n) -> (zeros(T, n), collect(1:2:2n+1), values_of(T, 2n + 1)))
# Beyond the array.
case(while_between_pointers!, (T, n) -> (zeros(T, n), collect(1:2:2n+1), values_of(T, n)))

@tessella function while_bisecting(x, v)
    lo, hi = 1, length(x) + 1
    while lo < hi
        mid = (lo + hi) ÷ 2
        if @inbounds x[mid] < v
            lo = mid + 1
        else
            hi = mid
        end
    end
    return lo
end
case(while_bisecting, (T, n) -> (sort(values_of(T, n)), T(0.2)))

@tessella function while_returning(x)
    z = x
    turns = 0
    while true
        z = z / 2 + 1 / z
        turns += 1
        if abs(z * z - 2) < 1e-12
            return z, turns
        end
        turns > 5 && break
    end
    return 0.0, -1
end
case(while_returning, (T, n) -> (1.0 + n,); types = DataType[Float64])

@tessella function while_skipping(most)
    i = 0
    s = 0.0
    while i < most
        i += 1
        if i % 2 == 0
            continue
        end
        s += i
        i += 2
    end
    return s, i
end
case(while_skipping, (T, n) -> (5n,); types = DataType[Float64])

@tessella function while_in_while(n)
    s = 0
    k = n
    while k > 0
        j = k
        while j > 1
            j = iseven(j) ? j ÷ 2 : 3j + 1
            s += 1
        end
        k -= 1
    end
    return s
end
case(while_in_while, (T, n) -> (n,); types = DataType[Float64])

# Clusters of occupied places: labels spread until none changes.
@tessella function while_spreading!(label, occupied)
    m, n = size(occupied)
    changed = true
    while changed
        changed = false
        for j in 1:n, i in 1:m
            occupied[i, j] || continue
            least = label[i, j]
            if i > 1 && occupied[i-1, j]
                least = min(least, label[i-1, j])
            end
            if j > 1 && occupied[i, j-1]
                least = min(least, label[i, j-1])
            end
            if i < m && occupied[i+1, j]
                least = min(least, label[i+1, j])
            end
            if j < n && occupied[i, j+1]
                least = min(least, label[i, j+1])
            end
            if least < label[i, j]
                label[i, j] = least
                changed = true
            end
        end
    end
    return label
end
case(while_spreading!, (T, n) -> (reshape(collect(1:n*n), n, n), Bool[(3i + 5j) % 4 != 0 for i in 1:n, j in 1:n]);
     types = DataType[Float64])

# Red and black points in turn.
@tessella function while_red_black!(u, f, omega, tol, most)
    m, n = size(u)
    change = Inf
    sweeps = 0
    while change > tol && sweeps < most
        change = 0.0
        for color in 0:1
            for j in 2:n-1, i in 2:m-1
                if (i + j) % 2 == color
                    r = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - f[i, j]) / 4 - u[i, j]
                    u[i, j] += omega * r
                    change = max(change, abs(r))
                end
            end
        end
        sweeps += 1
    end
    return sweeps, change
end
case(while_red_black!, (T, n) -> (values_of(Float64, n, n), values_of(Float64, n, n), 1.5, 1e-4, 50); types = DataType[Float64])
# Counters that step first, with further conditions: these are asked before the step.
@tessella function while_first_and(n)
    it = 0
    e = 1.0
    while e > 0.2 && it < n
        it += 1
        e /= 2
    end
    return it, e
end
case(while_first_and, (T, n) -> (n,))

@tessella function while_first_reads!(y, x)
    i = 0
    while i < length(x) && x[i+1] < 0.7
        i += 1
        y[i] = x[i]
    end
    return i
end
case(while_first_reads!, (T, n) -> (zeros(T, n), T[0.05 * i for i in 1:n]))
case(while_first_reads!, (T, n) -> (zeros(T, n), fill(T(0.5), n)))

@tessella function while_first_down!(y, x)
    i = length(x)
    while i > 1 && x[i] > 0
        i -= 1
        y[i] += x[i]
    end
    return i
end
case(while_first_down!, (T, n) -> (zeros(T, n), T[i > 3 ? 1 : 0 for i in 1:n]))

# A name that a loop or a `let` has for itself, and the function, too.
@tessella function return_inner(x)
    i = 100
    for i in eachindex(x)
        x[i] > 0.5 && return i
    end
    0
end
case(return_inner, (T, n) -> (T[0.1 * i for i in 1:n],))

@tessella function return_inner_of_let(x, n)
    for k in eachindex(x)
        let n = 2k
            if x[k] > 0.5
                return n
            end
        end
    end
    return n
end
case(return_inner_of_let, (T, n) -> (T[0.1 * i for i in 1:n], n))

# A divisor that is tested inside, after a return: for sizes without rows the loop is another one.
@tessella function while_filling!(img, new, stack)
    img[1, 1] == new && return 0
    h = size(img, 1)
    sp = length(stack)
    while sp > 0
        k = stack[sp]
        sp -= 1
        img[mod1(k, h), 1] = new
    end
    return 1
end
case(while_filling!, (T, n) -> (values_of(T, n, n), T(7), [mod(3i, 11) for i in 1:n]); types = DataType[Int64])

# The hysteresis of an edge filter: sweeps until nothing changes, with a slice inside of another array than the one that tells the sizes.
@tessella function while_joining!(out, mag, lo, hi)
    h, w = size(mag)
    @. out = ifelse(mag >= hi, 0xff, ifelse(mag >= lo, 0x80, 0x00))
    changed = true
    while changed
        changed = false
        for j in 2:w-1, i in 2:h-1
            if out[i, j] == 0x80
                if any(==(0xff), @view out[i-1:i+1, j-1:j+1])
                    out[i, j] = 0xff
                    changed = true
                end
            end
        end
    end
end
case(while_joining!, (T, n) -> (zeros(UInt8, n, n), values_of(T, n, n), T(0.1), T(0.6)); types = DataType[Float64])

# Counters that data have moved before: two pointers, a window's minima, a stack, merging, runs of equal values.
@tessella function while_following(x, y)
    j = 1
    c = 0
    for i in 1:length(x)
        while j <= length(y) && y[j] < x[i]
            j += 1
        end
        c += j
    end
    return c
end
case(while_following, (T, n) -> (sort(values_of(T, n)), sort(values_of(T, n + 3))))

@tessella function while_in_window!(out, a, places, k)
    n = length(a)
    head = 1
    tail = 0
    for i in 1:n
        while head <= tail && places[head] <= i - k
            head += 1
        end
        while head <= tail && a[places[tail]] >= a[i]
            tail -= 1
        end
        tail += 1
        places[tail] = i
        if i >= k
            out[i-k+1] = a[places[head]]
        end
    end
end
case(while_in_window!, (T, n) -> (zeros(T, n), values_of(T, n), zeros(Int, n + 1), 3))

@tessella function while_on_stack!(out, a, stack)
    sp = 0
    for i in 1:length(a)
        while sp > 0 && a[stack[sp]] < a[i]
            out[stack[sp]] = i
            sp -= 1
        end
        sp += 1
        stack[sp] = i
    end
    while sp > 0
        out[stack[sp]] = 0
        sp -= 1
    end
end
case(while_on_stack!, (T, n) -> (zeros(Int, n), values_of(T, n), zeros(Int, n)))

@tessella function while_merging!(c, a, b)
    i, j, k = 1, 1, 1
    while i <= length(a) && j <= length(b)
        if a[i] <= b[j]
            c[k] = a[i]
            i += 1
        else
            c[k] = b[j]
            j += 1
        end
        k += 1
    end
    while i <= length(a)
        c[k] = a[i]
        i += 1
        k += 1
    end
    while j <= length(b)
        c[k] = b[j]
        j += 1
        k += 1
    end
    return k
end
case(while_merging!, (T, n) -> (zeros(T, 2n + 2), sort(values_of(T, n)), sort(values_of(T, n + 2))))

@tessella function while_equal!(lengths, values, x)
    n = length(x)
    m = 0
    i = 1
    while i <= n
        j = i
        while j < n && x[j+1] == x[i]
            j += 1
        end
        m += 1
        lengths[m] = j - i + 1
        values[m] = x[i]
        i = j + 1
    end
    return m
end
case(while_equal!, (T, n) -> (zeros(Int, n), zeros(Int, n), [mod(i * i ÷ 3, 3) for i in 1:n]); types = DataType[Int64])
