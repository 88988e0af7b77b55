# Subscripts and values that depend on what the function computes: tested on the way.

@tessella function insertion_sort!(x)
    for i in 2:length(x)
        v = x[i]
        j = i - 1
        while j >= 1 && x[j] > v
            x[j+1] = x[j]
            j -= 1
        end
        x[j+1] = v
    end
    return x
end
case(insertion_sort!, (T, n) -> (values_of(T, n),))

# Leaves the array at its lower end.
@tessella function insertion_without_end!(x)
    for i in 2:length(x)
        v = x[i]
        j = i - 1
        while x[j] > v
            x[j+1] = x[j]
            j -= 1
        end
        x[j+1] = v
    end
    return x
end
case(insertion_without_end!, (T, n) -> (values_of(T, n),))
case(insertion_without_end!, (T, n) -> (T[i for i in 1:n],))

@tessella function lower_bound(x, v)
    low, high = 1, length(x)
    while low < high
        middle = (low + high) >> 1
        if x[middle] < v
            low = middle + 1
        else
            high = middle
        end
    end
    return low
end
case(lower_bound, (T, n) -> (T[i / 4 for i in 1:n], T(1.1)))
case(lower_bound, (T, n) -> (T[i / 4 for i in 1:n], T(100)))

@tessella function lower_bounds!(places, x, v)
    for k in eachindex(v)
        low, high = 1, length(x)
        while low < high
            middle = (low + high) ÷ 2
            if x[middle] < v[k]
                low = middle + 1
            else
                high = middle
            end
        end
        places[k] = low
    end
    return places
end
case(lower_bounds!, (T, n) -> (zeros(Int, n), T[i / 8 - 1 for i in 1:n], values_of(T, n)))

@tessella function positive_packed!(y, x)
    k = 0
    for j in axes(x, 2), i in axes(x, 1)
        if x[i, j] > 0
            k += 1
            y[k] = x[i, j]
        end
    end
    return k
end
case(positive_packed!, (T, n) -> (zeros(T, 3n), values_of(T, n, 3)))
case(positive_packed!, (T, n) -> (zeros(T, n), values_of(T, n, 3)))

@tessella function named_packed!(y, x)
    k = 0
    for i in eachindex(x)
        x[i] > 0 || continue
        k += 1
        @comp pack y[k] = x[i]
    end
    return nothing
end
case(named_packed!, (T, n) -> (zeros(T, n ÷ 2), values_of(T, n)))

@tessella function links_followed!(next, order)
    k = 1
    for i in eachindex(order)
        order[i] = k
        k = next[k]
        next[order[i]] = 0
    end
    return k
end
case(links_followed!, (T, n) -> (Int[i + 1 for i in 1:n], zeros(Int, n)); types = DataType[Float64])
case(links_followed!, (T, n) -> (Int[mod(5i, n) + 1 for i in 1:n], zeros(Int, n)); types = DataType[Float64])

@tessella function quotients_in_turn!(y, d)
    s = 7
    for i in eachindex(d)
        s = s ÷ d[i] + 3
        y[i] = s % (s - 4)
    end
    return s
end
case(quotients_in_turn!, (T, n) -> (zeros(Int, n), Int[mod(7i, 5) - 2 for i in 1:n]); types = DataType[Float64])
case(quotients_in_turn!, (T, n) -> (zeros(Int, n), Int[mod(7i, 3) + 1 for i in 1:n]); types = DataType[Float64])
case(quotients_in_turn!, (T, n) -> (zeros(Int, n), Int[isodd(i) ? -1 : 2 for i in 1:n]); types = DataType[Float64])

@tessella function least_by_minus_one!(y)
    s = y[1]
    for i in eachindex(y)
        y[i] = s
        s = s ÷ -s
        s = (y[1] - s) ÷ (s - i)
    end
    return y
end
case(least_by_minus_one!, (T, n) -> (fill(typemin(Int), n + 1),); types = DataType[Float64])
case(least_by_minus_one!, (T, n) -> (fill(40, n + 1),); types = DataType[Float64])

@tessella function whole_sums!(y, x)
    s = zero(eltype(x))
    for i in eachindex(x)
        s += x[i]
        y[i] = Int(s)
    end
    return y
end
case(whole_sums!, (T, n) -> (zeros(Int, n), T[mod(i, 3) for i in 1:n]))
case(whole_sums!, (T, n) -> (zeros(Int, n), T[mod(i, 3) / 2 for i in 1:n]))
case(whole_sums!, (T, n) -> (zeros(Int, n), fill(T(1e30), n)))

@tessella function sifted!(a)
    n = length(a)
    for start in n÷2:-1:1
        root = start
        while 2root <= n
            child = 2root
            if child < n && a[child] < a[child+1]
                child += 1
            end
            a[root] < a[child] || break
            a[root], a[child] = a[child], a[root]
            root = child
        end
    end
    return a
end
case(sifted!, (T, n) -> (values_of(T, n),))

@tessella function partitioned!(a, low, high)
    pivot = a[high]
    i = low - 1
    for j in low:high-1
        if a[j] <= pivot
            i += 1
            a[i], a[j] = a[j], a[i]
        end
    end
    a[i+1], a[high] = a[high], a[i+1]
    return i + 1
end
case(partitioned!, (T, n) -> (values_of(T, n), 1, n))
case(partitioned!, (T, n) -> (values_of(T, n), 1, n + 1))

# A `while` that data end inside of another, under a condition.
@tessella function primes_sieved!(p)
    n = length(p)
    for i in 1:n
        p[i] = i > 1
    end
    i = 2
    while i * i <= n
        if p[i]
            j = i * i
            while j <= n
                p[j] = false
                j += i
            end
        end
        i += 1
    end
    return p
end
case(primes_sieved!, (T, n) -> (fill(true, 5n),); types = DataType[Float64])

@tessella function sets_joined!(parent, a, b)
    for e in eachindex(a)
        x = a[e]
        while parent[x] != x
            parent[x] = parent[parent[x]]
            x = parent[x]
        end
        y = b[e]
        while parent[y] != y
            y = parent[y]
        end
        parent[x] = y
    end
    return parent
end
case(sets_joined!, (T, n) -> (collect(1:n), Int[mod(3i, n) + 1 for i in 1:n], Int[mod(5i, n) + 1 for i in 1:n]); types = DataType[Float64])
case(sets_joined!, (T, n) -> (collect(1:n), Int[mod(3i, n) + 1 for i in 1:n], Int[mod(5i, n) + 2 for i in 1:n]); types = DataType[Float64])

@tessella function read_back_from_table!(y, x, table)
    for i in eachindex(x)
        y[i] = x[i] * 2
        y[i] = table[trunc(Int, y[i]) + 1]
    end
    return y
end
case(read_back_from_table!, (T, n) -> (zeros(T, n), T[mod(3i, 8) / 4 for i in 1:n], T[1, 2, 3, 4]))
case(read_back_from_table!, (T, n) -> (zeros(T, n), T[mod(3i, 9) / 4 for i in 1:n], T[1, 2, 3, 4]))

# A test that fails keeps what comes after it from leaving the arrays.
@tessella function unchecked_after_failure!(y, x, at)
    place = 1
    for i in eachindex(x)
        place = at[place]
        @inbounds y[place] = x[i]
    end
    return y
end
case(unchecked_after_failure!, (T, n) -> (zeros(T, n), values_of(T, n), Int[mod(3i, n) + 1 for i in 1:n]))

@tessella function thrown_on_the_way!(x)
    s = one(eltype(x))
    for i in eachindex(x)
        s *= x[i]
        s > -2 || throw(DomainError(i, "too small"))
        x[i] = s
    end
    return x
end
case(thrown_on_the_way!, (T, n) -> (values_of(T, n),))
case(thrown_on_the_way!, (T, n) -> (T[isodd(i) ? -2 : 3 for i in 1:n],))

@tessella function local_stack(depth)
    stack = zeros(Int, 8)
    top = 0
    for i in 1:depth
        top = mod(i, 3) == 0 ? top - 1 : top + 1
        stack[top] += i
    end
    return stack
end
case(local_stack, (T, n) -> (n,); types = DataType[Float64])
case(local_stack, (T, n) -> (4n,); types = DataType[Float64])

# A divisor of a subscript that depends on what the function wrote.
@tessella function places_by_remainders!(a, b)
    n = length(a)
    for i in 1:n
        a[i] = mod1(a[i] + b[i], n)
    end
    for i in 1:n
        b[i] -= b[mod1(i + a[i], n)] & 3
    end
end

case(places_by_remainders!, (T, n) -> (values_of(Int, n), values_of(Int, n)); types = [Int])
case(places_by_remainders!, (T, n) -> (values_of(Int, n), values_of(Int, max(n - 1, 0))); types = [Int])

@tessella function places_by_given_remainder!(a, b, n)
    for i in 1:length(a)
        a[i] += b[i]
    end
    for i in 1:length(a)
        b[i] -= b[mod1(i + a[i], n)] & 3
    end
end

for divisor in (3, 0, -2)
    case(places_by_given_remainder!, (T, n) -> (values_of(Int, n), values_of(Int, n), divisor); types = [Int])
end

# What a condition reads is looked at at entry, also along a range that data bound; what it decides about lies at the same place.
@tessella function knapsack(weights, values, most)
    best = zeros(Int, most + 1)
    for i in eachindex(weights)
        for c in most:-1:weights[i]
            t = best[c-weights[i]+1] + values[i]
            if t > best[c+1]
                best[c+1] = t
            end
        end
    end
    return best
end
case(knapsack, (T, n) -> ([mod(5i, 7) + 1 for i in 1:min(n, 9)], [mod(3i, 11) + 1 for i in 1:min(n, 9)], n); types = [Int])
case(knapsack, (T, n) -> ([2, -1, 3], [1, 2, 3], n); types = [Int])
