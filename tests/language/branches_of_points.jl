# Branches of a point in steps that repeat it: they become values that conditions choose.

with_whole = [Float32, Float64, Int64, Int32]

@tessella function branches_of_three(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            if u[i] > u[i-1] && u[i] > u[i+1]
                v[i] = u[i] - 1
            elseif u[i] < u[i-1]
                v[i] = u[i] + 1
            else
                v[i] = u[i+1]
            end
        end
        u .= v
    end
    return v
end

case(branches_of_three, (T, n) -> (values_of(T, n), 3); types = with_whole)

# What one branch sets alone is read nowhere else; what was set before stays.
@tessella function branches_of_their_own(u, w, steps)
    n = length(u)
    for t in 1:steps
        for i in 2:n-1
            sum = u[i-1] + u[i+1]
            if sum > u[i]
                difference = sum - u[i]
                sum = difference + w[i]
                w[i] = difference
            else
                w[i] = sum
            end
            if w[i] > 3
                sum = zero(eltype(u))
            end
            u[i] = sum
        end
    end
    return u
end

case(branches_of_their_own, (T, n) -> (values_of(T, n), values_of(T, n), 3); types = with_whole)

# A condition on what its branches change: it is asked before.
@tessella function branches_of_conditions(u, v, steps)
    n = length(u)
    for t in 1:steps
        for i in 1:n
            x, y = u[i], v[i]
            if x > y
                x = y - 1
                y = x + u[i]
                v[i] = x
            else
                y = x
                x = y + 1
                v[i] = y
            end
            if v[i] < 2
                v[i] = v[i] + x
            else
                v[i] = y
            end
            u[i] = x - y
        end
    end
    return u
end

case(branches_of_conditions, (T, n) -> (values_of(T, n), values_of(T, n), 3); types = [Float32, Float64, Int64])

# Only the branch that is taken reads: there may be no such element.
@tessella function branches_that_read(u, places, steps)
    n = length(u)
    v = zero(u)
    for t in 1:steps
        for i in 1:n
            if places[i] > 0
                v[i] = u[places[i]]
            else
                v[i] = u[i]
            end
        end
        for i in 1:n
            u[i] = v[i]
        end
    end
    return v
end

case(branches_that_read, (T, n) -> (values_of(T, n), [mod(7i, 3) == 0 ? 0 : mod1(5i, n) for i in 1:n], 2); types = with_whole)

# Ends of the array beside conditions on data, and elements that a branch leaves alone.
@tessella function branches_at_ends(u, solid, steps)
    m, n = size(u)
    v = copy(u)
    for t in 1:steps
        for j in 1:n, i in 1:m
            if i == 1 || i == m
                v[i, j] = 0
            elseif !solid[i, j]
                v[i, j] = u[i-1, j] + u[i+1, j]
            end
            if i > 1 && u[i, j] > 1
                v[i, j] = 1
            else
                v[i, j] = v[i, j] - 1
            end
        end
        for j in 1:n, i in 1:m
            u[i, j] = v[i, j]
        end
    end
    return u
end

case(branches_at_ends, (T, n) -> (values_of(T, n, n + 1), [mod(i * j, 3) == 0 for i in 1:n, j in 1:n+1], 2); types = with_whole)

function limit(a, b)
    if a * b <= 0
        return zero(a)
    elseif abs(a) < abs(b)
        return a
    else
        return b
    end
end

# Functions whose result depends on data, called for each point.
@tessella function branches_of_functions(u, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 3:n-2
            slope = limit(u[i] - u[i-1], u[i+1] - u[i])
            v[i] = u[i] - limit(u[i-1] - u[i-2], u[i] - u[i-1]) + slope
        end
        u, v = v, u
    end
    return u
end

case(branches_of_functions, (T, n) -> (values_of(T, n), 3); types = with_whole)

# Sums and best values over the points, and counts of what is found, stay what they are.
@tessella function branches_that_sum(u, steps)
    n = length(u)
    count, most = 0, zero(eltype(u))
    for t in 1:steps
        for i in 1:n
            if u[i] > 1
                count += 1
            end
            if u[i] > most
                most = u[i]
            end
        end
        for i in 1:n
            u[i] = u[i] < most ? u[i] + 1 : u[i] - most
        end
    end
    return count, most
end

case(branches_that_sum, (T, n) -> (values_of(T, n), 3); types = [Float32, Float64, Int64])

# Elements that a branch leaves alone: of one array, of another one in each branch, in another order in each.
@tessella function branches_that_leave(u, solid, steps)
    m, n = size(u)
    v, w = copy(u), copy(u)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            if !solid[i, j]
                v[i, j] = u[i-1, j] + u[i, j+1]
            end
            if u[i, j] > v[i, j]
                w[i, j] = u[i, j] - v[i, j]
                v[i, j] = w[i, j] + 1
            elseif solid[i-1, j]
                v[i, j] = 2
                w[i, j] = v[i, j] - u[i, j]
            end
            solid[i, j-1] && continue
            v[i, j] += 1
            v[i, j] > 3 || (w[i, j] = v[i, j])
        end
        u, v = v, u
    end
    return u, w
end

case(branches_that_leave, (T, n) -> (values_of(T, n, n + 1), [mod(i * j, 3) == 0 for i in 1:n, j in 1:n+1], 3); types = with_whole)

# Elements that points share, or that data name, are written on a condition as before.
@tessella function branches_that_share(u, places, steps)
    n = length(u)
    first, counts = zero(u), zeros(Int, n)
    for t in 1:steps
        for j in 1:n, i in 1:n
            if u[i] > u[j]
                first[j] = i + t
            end
            if places[i] > 0 && i == j
                counts[places[i]] += 1
            end
        end
        for i in 1:n
            u[i] = u[i] > 2 ? u[i] - 2 : u[i] + 1
        end
    end
    return first, counts
end

case(branches_that_share, (T, n) -> (values_of(T, n), [mod(7i, 3) == 0 ? 0 : mod1(5i, n) for i in 1:n], 2); types = with_whole)

# A limit that values must not pass, set where they do.
@tessella function branches_that_limit(u, most, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            v[i] = u[i-1] + u[i+1] - u[i]
            if v[i] > most
                v[i] = most
            end
        end
        u, v = v, u
    end
    return u
end

case(branches_that_limit, (T, n) -> (values_of(T, n), T(3), 3); types = with_whole)

# Labels of statements in branches.
@tessella function branches_with_labels(u, solid, steps)
    n = length(u)
    v = copy(u)
    for t in 1:steps
        for i in 2:n-1
            if !solid[i]
                @comp S v[i] = u[i-1] + u[i+1]
            end
            if u[i] > 1
                @comp R v[i] -= 1
            else
                v[i] -= 2
            end
        end
        u, v = v, u
    end
    return u
end

case(branches_with_labels, (T, n) -> (values_of(T, n), [mod(i, 3) == 0 for i in 1:n], 3); types = with_whole)

# Elements that the array does not have, in branches that are never taken, whichever branch of a branch stores.
@tessella function branches_never_outside(u, v, w, solid, steps)
    m, n = size(u)
    for t in 1:steps
        for j in 1:n, i in 1:m
            if !solid[i, j]
                v[i, j] = 2 * u[i, j]
            end
            if solid[i, j] && u[i, j] > 0
                u[i, j] -= 1
            elseif u[i, j] > 2
                u[i, j] -= 2
            elseif !solid[i, j]
                w[i, j] = u[i, j]
            end
        end
    end
    return u
end

case(branches_never_outside, (T, n) -> (values_of(T, n, 3), values_of(T, max(n - 1, 0), 3), values_of(T, n, 2), ones(Bool, n, 3), 2); types = with_whole)
case(branches_never_outside, (T, n) -> (values_of(T, n, 3), values_of(T, n, 3), values_of(T, n, 2), [i + j < n for i in 1:n, j in 1:3], 2); types = with_whole)

# Components along the last axis, some of which a line of few points does not touch, or no step writes.
@tessella function branches_of_components(u, steps)
    m, n = size(u, 1), size(u, 2)
    for t in 1:steps
        for j in 1:n-1, i in 1:m
            u[i, j, 1] += u[i, j+1, 3] - u[i, j, 3]
        end
        for j in 1:n, i in 1:m-1
            u[i, j, 2] -= u[i+1, j, 3] * u[i, j, 4]
        end
        for j in 2:n-1, i in 2:m-1
            u[i, j, 3] = u[i, j, 1] - u[i, j, 2]
        end
    end
    return u
end

case(branches_of_components, (T, n) -> (values_of(T, n, 4, 4), 3); types = with_whole)
case(branches_of_components, (T, n) -> (values_of(T, 1, n, 3), 2); types = with_whole)
case(branches_of_components, (T, n) -> (values_of(T, n, 3, 3), 2); types = with_whole)
