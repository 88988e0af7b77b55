# Neighbours around the ends: subscripts with `mod1`, `mod`, `?:` and `ifelse`.

@tessella function periodic_mod1!(y, x)
    n = length(x)
    for i in 1:n
        y[i] = x[mod1(i - 1, n)] - 2x[i] + x[mod1(i + 1, n)]
    end
    return nothing
end

@tessella function periodic_mod!(y, x)
    n = length(x)
    for i in 0:n-1
        y[i + 1] = x[mod(i - 2, n) + 1] + 3x[(i + 1) % n + 1]
    end
    return nothing
end

@tessella function periodic_choice!(y, x)
    n = length(x)
    for i in 1:n
        left = i == 1 ? n : i - 1
        right = ifelse(i == n, 1, i + 1)
        y[i] = x[left] + 2x[right]
    end
    return nothing
end

@tessella function periodic_plane!(B, A, steps)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            B[i, j] = (A[mod1(i - 1, m), j] + A[mod1(i + 1, m), j] + A[i, mod1(j - 1, n)] + A[i, mod1(j + 1, n)]) / 4
        end
        for j in 1:n, i in 1:m
            A[i, j] = B[i, j]
        end
    end
    return nothing
end

@tessella function periodic_store!(y, x)
    n = length(x)
    for i in 1:n
        y[mod1(i + 2, n)] = x[i]
        y[i == 1 ? n : i - 1] += x[i]
    end
    return nothing
end

@tessella function shifted_by_argument!(y, x, k)
    n = length(x)
    for i in 1:n
        y[i] = x[mod1(i + k, n)]
    end
    return nothing
end

@tessella function periodic_other_size!(y, x, m)
    for i in 1:length(y)
        y[i] = x[mod1(i + 1, m)]
    end
    return nothing
end

case(periodic_mod1!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(periodic_mod!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(periodic_choice!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(periodic_plane!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1), 3))
case(periodic_store!, (T, n) -> (zeros(T, n), values_of(T, n)))
for k in (-40, -1, 0, 3)
    case(shifted_by_argument!, (T, n) -> (zeros(T, n), values_of(T, n), k))
end
for m in (-2, 0, 1, 5, 18)
    case(periodic_other_size!, (T, n) -> (zeros(T, n), values_of(T, n), m))
end

const NINE_X = (0, 1, 0, -1, 0, 1, -1, -1, 1)
const NINE_Y = (0, 0, 1, 0, -1, 1, 1, -1, -1)
const NINE_W = (4.0, 1.0, 1.0, 1.0, 1.0, 0.25, 0.25, 0.25, 0.25)

# How many directions there are is known at run time.
@tessella function periodic_directions!(g, f)
    m, n = size(f, 1), size(f, 2)
    for q in 1:size(f, 3), j in 1:n, i in 1:m
        g[i, j, q] = NINE_W[q] * f[mod1(i - NINE_X[q], m), mod1(j - NINE_Y[q], n), q]
    end
end

@tessella function periodic_pushes!(g, f)
    m, n = size(f, 1), size(f, 2)
    for q in axes(f, 3), j in 1:n, i in 1:m
        g[mod1(i + NINE_X[q], m), mod1(j + NINE_Y[q], n), q] = f[i, j, q]
    end
end

for f in (periodic_directions!, periodic_pushes!)
    case(f, (T, n) -> (zeros(T, n, 3, 9), values_of(T, n, 3, 9)))
    case(f, (T, n) -> (zeros(T, 2, n, 10), values_of(T, 2, n, 10)))
end

# What is asserted before of sizes and numbers is known behind, and not before.
@tessella function periodic_asserted!(u, v, flag)
    n = length(u)
    for i in 1:n
        u[i] += v[max(1, min(i + flag, length(v)))]
    end
    @assert length(v) == n && flag < 3
    for i in 1:n
        u[i] += 2v[mod1(i + 3, n)] + v[mod1(i - 1, length(v))] + v[min(i + 1, n, max(flag, 1))]
    end
    return nothing
end
@tessella function periodic_asserted_under!(u, v, flag)
    n = length(u)
    if flag > 0
        @assert length(v) == n
    end
    for i in 1:n
        u[i] += v[mod1(i - 1, length(v))] + v[mod1(i + 5, length(v))]
    end
    return nothing
end
for f in (periodic_asserted!, periodic_asserted_under!), more in 0:1, flag in -1:3
    case(f, (T, n) -> (zeros(T, n), collect(T, 1:n+more), flag))
end
