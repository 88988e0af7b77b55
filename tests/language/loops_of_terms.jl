# Loops over a few neighbours of a point, in steps that repeat them: they become their terms.

with_whole = [Float32, Float64, Int64, Int32]

@tessella function terms_left_out(A, steps)
    m, n = size(A)
    B = copy(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            sum = zero(eltype(A))
            for dj in -1:1
                for di in -1:1
                    di == 0 && dj == 0 && continue
                    (i + di < 1 || i + di > m) && continue
                    x = mod1(j + dj, n)
                    sum += A[i+di, x]
                end
            end
            B[i, j] = sum
        end
        A .= B
    end
    return B
end

case(terms_left_out, (T, n) -> (values_of(T, n, n + 1), 3); types = with_whole)

@tessella function terms_chosen(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 1:n
            lower, higher, nearest = zero(eltype(u)), u[i], 0
            for d in (-2, -1, 1, 2)
                if i + d < 1
                    lower += u[1]
                elseif i + d > n
                    lower -= u[n]
                else
                    lower = lower + u[i+d]
                end
                if 1 <= i + d <= n && u[i+d] > higher
                    higher = u[i+d]
                    nearest = d
                end
            end
            v[i] = lower + higher + nearest
        end
        for i in 1:n
            u[i] = v[i] / 4
        end
    end
    return v
end

case(terms_chosen, (T, n) -> (values_of(T, n), 3))

# Conditions that ask what other terms have set.
@tessella function terms_in_order(u, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n-1
            s, c = u[i], 0
            for d in -1:1
                if s < 1 && c < 2
                    s += 2 * u[i+d]
                    c += 1
                end
                d == 0 || (s -= 1)
                s > 3 && (s = one(s))
            end
            u[i] = s + c
        end
    end
    return u
end

case(terms_in_order, (T, n) -> (values_of(T, n), 4); types = [Float32, Float64, Int64])

@tessella function terms_backwards(u, w, steps)
    n = length(u)
    v = similar(u)
    fill!(v, 0)
    for t in 1:steps
        for i in 4:n-3
            s = zero(eltype(u))
            for r in 3:-1:1
                left, right = u[i-r], u[i+r]
                @inbounds s += w[r] * (left + right)
            end
            for none in 1:0
                s = s + 100
            end
            for k in 1:2, l in 1:k
                s -= u[i]
            end
            v[i] = s
        end
        u .= v
    end
    return u
end

case(terms_backwards, (T, n) -> (values_of(T, n), values_of(T, 3), 2); types = [Float32, Float64, Int64])

@tessella function terms_of_pairs(A, steps)
    m, n = size(A)
    B = copy(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            flow = zero(eltype(A))
            for (k, (di, dj)) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1)))
                x, y = i + di, j + dj
                if x >= 1 && x <= m && y in 1:n
                    flow += k * (A[x, y] - A[i, j])
                end
            end
            B[i, j] = A[i, j] + flow
        end
        A, B = B, A
    end
    return A
end

case(terms_of_pairs, (T, n) -> (values_of(T, n, n + 2), 3); types = [Float32, Float64, Int64])

@tessella function terms_generated(A, steps)
    m, n = size(A)
    B = copy(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            around = sum(A[i+di, j+dj] for di in -1:1, dj in -1:1)
            beside = sum(A[i+di, j+dj] for di in -1:1 for dj in -1:1 if di != 0 || dj != 0)
            highest = maximum(A[i+d, j] for d in -1:1)
            B[i, j] = around - beside + highest - minimum(A[i, j+d] for d in (-1, 1)) + prod(A[i, j] for d in 1:2)
        end
        A .= B
    end
    return B
end

case(terms_generated, (T, n) -> (values_of(T, n, n + 1), 3))
case(terms_generated, (T, n) -> (mod.(values_of(T, n, n + 1), T(5)), 2); types = [Int64, Int32])

# Sums of which data leave out all, or only negative zeros.
@tessella function terms_filtered(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            positive = sum(u[i+d] for d in -1:1 if u[i+d] > 0)
            zeros_only = sum(-abs(u[i+d]) * 0 for d in -1:1)
            several = count(u[i+d] > 0 for d in -1:1)
            v[i] = any(u[i+d] > 1 for d in -1:1) ? positive / zeros_only : positive - several
        end
        u .= v
    end
    return u
end

case(terms_filtered, (T, n) -> (mixed_values(T, n), 1))
case(terms_filtered, (T, n) -> (values_of(T, n), 3))

@tessella function terms_begun(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            v[i] = reduce(+, u[i+d] for d in -1:1; init = 10one(eltype(u))) + mapreduce(d -> u[i+d], +, -1:1)
        end
        for i in 2:n-1
            u[i] = v[i]
        end
    end
    return u
end

case(terms_begun, (T, n) -> (values_of(T, n), 3); types = with_whole)

# Conditions that set what they ask about.
@tessella function terms_set_in_conditions(u, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n-1
            s, c = zero(eltype(u)), one(eltype(u))
            for d in -1:1
                (c = u[i+d]; d == 1) && (s += 1)
                s += c
                if u[i+d] > 0
                    s = c = u[i+d]
                end
            end
            u[i] = s
        end
    end
    return u
end

case(terms_set_in_conditions, (T, n) -> (values_of(T, n), 2))

# What is asked before the iterators decide may be outside of the array.
@tessella function terms_asked_first(u, from, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in from:n-1
            s = zero(eltype(u))
            for d in -1:1
                (u[i+d] > 0 || d == -1) && continue
                s += u[i]
            end
            v[i] = s
        end
        u .= v
    end
    return u
end

case(terms_asked_first, (T, n) -> (values_of(T, n), 1, 2))
case(terms_asked_first, (T, n) -> (values_of(T, n), 2, 2))

@tessella function terms_any(u, v, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n
            v[i] = any(u[i+d] > 0 for d in 0:1) ? 1 : all(u[i-d] < 0 for d in 1:1) ? 2 : 3
        end
    end
    return v
end

# Where an element that nothing asks for is outside, the original runs.
case(terms_any, (T, n) -> (values_of(T, n), zeros(T, n), 2); targets = [:c])
case(terms_any, (T, n) -> (abs.(values_of(T, n)) .+ one(T), zeros(T, n), 2); targets = [:c])

@tessella function terms_complex(z, steps)
    n = length(z)
    w = copy(z)
    for t in 1:steps
        for i in 2:n-1
            w[i] = sum(z[i+d] for d in -1:1) * prod(z[i+d] for d in (-1, 1))
        end
        z .= w
    end
    return z
end

case(terms_complex, (T, n) -> (complex.(values_of(T, n), reverse(values_of(T, n))), 2))

@tessella function terms_divided(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 3:n-2
            s = 0
            for d in -2:2
                d == 0 && continue
                s += u[i] ÷ d + u[i+d]
            end
            v[i] = s
        end
        u .= v
    end
    return u
end

case(terms_divided, (T, n) -> (values_of(T, n), 3); types = [Int64])

@tessella function terms_unassigned(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            s = zero(eltype(u))
            local y
            for d in -1:1
                u[i+d] > 0 && (y = u[i+d])
            end
            y = 2u[i]
            s += y
            for d in (-1, 1)
                if abs(d) == 1 && (d, 1) != (1, 1)
                    s += u[i+d]
                elseif u[i] > s
                    s = u[i]
                end
            end
            v[i] = s
        end
        u .= v
    end
    return u
end

case(terms_unassigned, (T, n) -> (values_of(T, n), 3))
