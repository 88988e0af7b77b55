# Bounds and extents that floats and roots give: entry works them out.

@tessella function steps_in_time!(u, time, dt)
    nt = round(Int, time / dt)
    for t in 1:nt, i in 1:length(u)
        u[i] = u[i] / 2 + dt
    end
    return nt
end
for (time, dt) in ((1.0, 0.1), (9.999999999999998, 1.0), (2.5, 1.0), (3.5, 1.0), (-2.5, 1.0), (0.0, 0.1), (-0.0, 1.0))
    case(steps_in_time!, (T, n) -> (values_of(T, n), T(time), T(dt)))
    case(steps_in_time!, (T, n) -> (values_of(T, n), time, T(dt)))
end
case(steps_in_time!, (T, n) -> (values_of(T, n), 1.0f0, 0.1f0))
case(steps_in_time!, (T, n) -> (values_of(T, n), n, Int8(2)))
case(steps_in_time!, (T, n) -> (values_of(T, n), true, 0x02))
# Julia throws.
for (time, dt) in ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (NaN, 1.0), (1.0, NaN), (Inf, 1.0), (1e300, 1.0), (9.3e18, 1.0), (-9.3e18, 1.0))
    case(steps_in_time!, (T, n) -> (values_of(T, n), time, T(dt)))
end
# Many steps backwards are none.
case(steps_in_time!, (T, n) -> (values_of(T, n), -1.0e11, 1.0))

@tessella function every_way_to_round!(y, x)
    for i in 1:round(Int, x)
        y[1] += i
    end
    for i in 1:floor(Int, x)
        y[2] += i
    end
    for i in 1:ceil(Int, x)
        y[3] += i
    end
    for i in 1:trunc(Int, x)
        y[4] += i
    end
    return nothing
end
for x in (0.5, 1.5, 2.5, 2.4999999999999996, -0.5, -1.5, 7.0, 4.999999999999999, 5.000000000000001, NaN, -Inf)
    case(every_way_to_round!, (T, n) -> (zeros(T, 4 + n), T(x)))
end

@tessella function smoothing_weights(sigma)
    r = ceil(Int, 3sigma)
    w = zeros(typeof(sigma), 2r + 1)
    for k in -r:r
        w[k + r + 1] = 1 / (1 + (k / sigma)^2)
    end
    return w
end
case(smoothing_weights, (T, n) -> (T(n) / 5,))
case(smoothing_weights, (T, n) -> (T(-n) / 5,))
case(smoothing_weights, (T, n) -> (T(NaN),))

@tessella function blurred!(out, u, sigma)
    r = ceil(Int, 2sigma)
    for i in 1+r:length(u)-r
        total = zero(eltype(u))
        for k in -r:r
            total += u[i + k]
        end
        out[i] = total / (2r + 1)
    end
    return nothing
end
for sigma in (0.0, 0.3, 0.5, 1.2, -0.7, 100.0, Inf)
    case(blurred!, (T, n) -> (zeros(T, n), values_of(T, n), sigma))
    case(blurred!, (T, n) -> (zeros(T, n), values_of(T, n), Float32(sigma)))
end

@tessella function points_of_a_length(L, h, f)
    n = floor(Int, L / h) + 1
    grid = zeros(typeof(f), n)
    for i in 1:n
        grid[i] = f * (i - 1)
    end
    return grid
end
case(points_of_a_length, (T, n) -> (1.0, 0.1, T(0.1)))
case(points_of_a_length, (T, n) -> (n * 0.1, 0.1, T(0.1)))
case(points_of_a_length, (T, n) -> (-0.05, 0.1, T(0.1)))
case(points_of_a_length, (T, n) -> (-5.0, 0.1, T(0.1)))
case(points_of_a_length, (T, n) -> (1.0, 0.0, T(0.1)))

@tessella function shifted_by_a_length!(y, x, shift, h)
    s = trunc(Int, shift / h)
    for i in 1:length(x)-s
        y[i + s] = x[i]
    end
    return nothing
end
for shift in (0.0, 0.25, 0.5, 1.0, -0.3)
    case(shifted_by_a_length!, (T, n) -> (zeros(T, n), values_of(T, n), shift, 0.25))
end

@tessella function within_a_length_only!(y, T, dt)
    if dt > 0
        nt = round(Int, T / dt)
        for t in 1:nt
            y[1] += t
        end
    end
    return nothing
end
case(within_a_length_only!, (T, n) -> (zeros(T, 1 + n), T(n), T(0.5)))
case(within_a_length_only!, (T, n) -> (zeros(T, 1 + n), T(n), T(0)))
case(within_a_length_only!, (T, n) -> (zeros(T, 1 + n), T(Inf), T(0.5)))

@tessella function whole_steps!(y, x)
    for i in 1:Int(x)
        y[1] += i
    end
    return nothing
end
for x in (3.0, 3.5, 0.0, -2.0, NaN, 1e19)
    case(whole_steps!, (T, n) -> (zeros(T, 1 + n), T(x)))
end

@tessella function written_before!(y, time, dt)
    for i in 1:length(y)
        y[i] = i
    end
    for t in 1:round(Int, time / dt), i in 1:length(y)
        y[i] += t
    end
    return nothing
end
case(written_before!, (T, n) -> (zeros(T, n), 1.0, 0.25))
case(written_before!, (T, n) -> (zeros(T, n), 1.0, 0.0))

@tessella function steps_of_products!(y, n, time, dt)
    nt = round(Int, time / dt)
    for k in 1:n*nt
        y[k] += k
    end
    for k in 1:nt÷n
        y[k] -= k
    end
    return nothing
end
case(steps_of_products!, (T, n) -> (zeros(T, 4n), n, 1.0, 0.25))
case(steps_of_products!, (T, n) -> (zeros(T, 4n + 5), 2, n / 2, 0.25))
case(steps_of_products!, (T, n) -> (zeros(T, 3n), n, 1.0, 0.25))

@tessella function fast_steps!(u, time, dt)
    nt = floor(Int, time / dt)
    for t in 1:nt, i in 1:length(u)
        @fastmath u[i] = u[i] + t
    end
    return nothing
end
case(fast_steps!, (T, n) -> (values_of(T, n), 0.3, 0.1))
case(fast_steps!, (T, n) -> (values_of(T, n), 0.6, 0.2))

@tessella function steps_that_change!(u, time, dt)
    dt = dt / 2
    nt = round(Int, time / dt)
    for t in 1:nt, i in 1:length(u)
        u[i] += t
    end
    return nothing
end
case(steps_that_change!, (T, n) -> (values_of(T, n), 1.0, 0.25))

@tessella function smallest_times(x, a, b)
    y = zeros(eltype(x), length(x))
    m = min(round(Int, a), floor(Int, max(a, b)), length(x))
    for i in 1:m
        y[i] = 2x[i]
    end
    return y
end
for (a, b) in ((2.5, 1.0), (0.0, -0.0), (100.0, 3.0), (1.0, NaN))
    case(smallest_times, (T, n) -> (values_of(T, n), T(a), T(b)))
end

@tessella function half_of_it!(x)
    for i in 1:round(Int, 0.5 * length(x))
        x[i] = i
    end
    return nothing
end
case(half_of_it!, (T, n) -> (values_of(T, n),))

@tessella function up_to_the_root!(sieve, n)
    for k in 2:isqrt(n)
        for j in k*k:k:n
            sieve[j] = 0
        end
    end
    return isqrt(n)
end
for n in (0, 1, 2, 3, 4, 8, 9, 15, 16, 17, 24, 25, 48, 49, -1)
    case(up_to_the_root!, (T, m) -> (ones(T, 50 + m), n))
    case(up_to_the_root!, (T, m) -> (ones(T, 50 + m), Int32(n)))
end

@tessella function roots!(out, x)
    for i in 1:length(x)
        out[i] = isqrt(x[i])
    end
    return nothing
end
roots_tried(n) = Int[[n, typemax(Int), 2^62, 2^62 - 1, 3037000499^2, 3037000499^2 - 1, 3037000499^2 + 1, 94906267^2 - 1]; [k^2 - 1 for k in 1:n]]
case(roots!, (T, n) -> (zeros(Int, n + 8), roots_tried(n)); types = [Int])
case(roots!, (T, n) -> (zeros(T, n), values_of(T, n)); types = [Int8, Int16, Int32, Int, UInt8, UInt16, UInt32])
case(roots!, (T, n) -> (zeros(T, n), values_of(T, n) .- T(1)); types = [Int])
