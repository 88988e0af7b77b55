# Small programs as scientists write them: quadrature, images, Monte Carlo, transforms, statistics.

const GAUSS_NODES = [-0.7745966692414834, 0.0, 0.7745966692414834]
const GAUSS_WEIGHTS = [0.5555555555555556, 0.8888888888888888, 0.5555555555555556]
const GRADIENT = [-1 0 1; -2 0 2; -1 0 1]

@tessella function gauss_quadrature(a, b, n)
    h = (b - a) / n
    t = 0.0
    for k in 1:n
        mid = a + (k - 0.5) * h
        for q in eachindex(GAUSS_NODES)
            x = mid + h / 2 * GAUSS_NODES[q]
            t += GAUSS_WEIGHTS[q] * x^3
        end
    end
    return t * h / 2
end
case(gauss_quadrature, (T, n) -> (0.0, 2.0, n); types = DataType[Float64])

@tessella function monte_carlo(n, seed)
    state = UInt64(seed)
    inside = 0
    for _ in 1:n
        state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f
        x = (state >> 11) / 9007199254740992
        state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f
        y = (state >> 11) / 9007199254740992
        if x * x + y * y < 1
            inside += 1
        end
    end
    return 4 * inside / n
end
case(monte_carlo, (T, n) -> (n+1, 42); types = DataType[Float64])

@tessella function image_gradient!(g, im)
    m, n = size(im)
    for j in 2:n-1, i in 2:m-1
        gx = 0.0; gy = 0.0
        for b in 1:3, a in 1:3
            gx += GRADIENT[a, b] * im[i+a-2, j+b-2]
            gy += GRADIENT[b, a] * im[i+a-2, j+b-2]
        end
        g[i, j] = sqrt(gx^2 + gy^2)
    end
end
case(image_gradient!, (T, n) -> (zeros(T, n, 4), values_of(T, n, 4)))

@tessella function moments_of(x)
    m = zeros(4)
    for v in x, k in 1:4
        m[k] += v^k
    end
    return m
end
case(moments_of, (T, n) -> (T[k % 3 for k in 1:n],))

@tessella function interpolated_in_table!(y, x, table)
    n = length(table)
    for i in eachindex(x)
        p = clamp(x[i], 0, 1) * (n - 1)
        k = min(floor(Int, p), n - 2)
        t = p - k
        y[i] = table[k+1] + t * (table[k+2] - table[k+1])
    end
end
case(interpolated_in_table!, (T, n) -> (zeros(T, n), values_of(T, n), T[1, 4, 9, 16]))

@tessella function covariance_of(x, y)
    n = length(x)
    mx = sum(a for a in x) / n; my = sum(a for a in y) / n
    return sum((x[i] - mx) * (y[i] - my) for i in 1:n) / (n - 1)
end
case(covariance_of, (T, n) -> (values_of(T, n), values_of(T, n) .+ 2))

@tessella function walsh_transform!(x, bits)
    n = 2^bits
    for l in 0:bits-1
        h = 2^l
        for i in 1:2h:n, j in i:i+h-1
            a = x[j]; b = x[j+h]
            x[j] = a + b
            x[j+h] = a - b
        end
    end
end
case(walsh_transform!, (T, n) -> (values_of(T, 2^(n % 5)), n % 5))

@tessella function mean_difference(x)
    n = length(x)
    return sum(abs(x[i] - x[j]) for i in 1:n for j in 1:n) / (2 * n * sum(v for v in x))
end
case(mean_difference, (T, n) -> (values_of(T, n) .+ 2,))

@tessella function energy_of_spins(s)
    m, n = size(s)
    return -sum(s[i, j] * (s[mod1(i + 1, m), j] + s[i, mod1(j + 1, n)]) for i in 1:m, j in 1:n)
end
case(energy_of_spins, (T, n) -> ([(-1)^(i * j) for i in 1:n+1, j in 1:4],); types = DataType[Float64])
