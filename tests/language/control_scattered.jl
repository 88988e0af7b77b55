# Sums and stores at places that data name, which keep the order of their loop.

@tessella function scattered_sums!(h, place, w)
    for p in eachindex(w)
        h[place[p]] += w[p]
    end
end

@tessella function scattered_values!(y, place, x)
    for p in eachindex(x)
        y[place[p]] = x[p]
    end
end

@tessella function charges_on_grid!(rho, x, y, q)
    n, m = size(rho)
    for p in eachindex(x, y, q)
        i = clamp(unsafe_trunc(Int, x[p]), 1, n - 1)
        j = clamp(unsafe_trunc(Int, y[p]), 1, m - 1)
        s, t = x[p] - i, y[p] - j
        rho[i, j] += q[p] * (1 - s) * (1 - t)
        rho[i + 1, j] += q[p] * s * (1 - t)
        rho[i, j + 1] += q[p] * (1 - s) * t
        rho[i + 1, j + 1] += q[p] * s * t
    end
end

@tessella function pulls_at_ends!(force, from, to, k, x)
    for e in eachindex(from, to, k)
        f = k[e] * (x[to[e]] - x[from[e]])
        force[from[e]] += f
        force[to[e]] -= f
    end
end

@tessella function parts_of_nodes!(f, node, part)
    for e in axes(node, 2), a in axes(node, 1), d in axes(f, 1)
        f[d, node[a, e]] += part[d, a, e]
    end
end

@tessella function weighed_columns!(num, den, place, w)
    for j in axes(place, 2), i in axes(place, 1)
        num[place[i, j], j] += w[i, j]
        den[place[i, j], j] += abs(w[i, j])
    end
end

@tessella function scattered_under_conditions!(h, lowest, place, w)
    for j in axes(place, 2), i in axes(place, 1)
        if w[i, j] > 0
            h[place[i, j]] -= 2w[i, j]
        else
            h[place[i, j]] = w[i, j] - h[place[i, j]]
        end
        lowest[place[i, j]] = min(lowest[place[i, j]], w[i, j])
    end
end

@tessella function scattered_rounds!(h, a, b, w, rounds)
    for t in 1:rounds, p in eachindex(a, b, w)
        h[a[p], b[p]] = w[p] - h[a[p], b[p]]
    end
end

@tessella function scattered_chain!(h, place, w)
    for p in 2:length(place)
        h[place[p]] += h[place[p - 1]] * w[p]
    end
end

@tessella function scattered_rows!(y, start, place, w)
    for i in 1:length(start)-1
        for k in start[i+1]-1:-1:start[i]
            y[place[k]] = y[place[k]] / 2 + w[k]
        end
    end
end

places_in(n, m, k = 7) = [mod(k * i * i + i, m) + 1 for i in 1:n]

case(scattered_sums!, (T, n) -> (values_of(T, n), places_in(60n, max(n, 1)), values_of(T, 60n)))
case(scattered_sums!, (T, n) -> (values_of(T, 1), places_in(40n, 1), values_of(T, 40n)))
case(scattered_sums!, (T, n) -> (values_of(T, 300), Int32.(places_in(60n, 300)), values_of(T, 60n)))
case(scattered_values!, (T, n) -> (values_of(T, n + 1), places_in(60n, n + 1), values_of(T, 60n)))
case(charges_on_grid!, (T, n) -> (zeros(T, 9, n + 2), 8 .* values_of(T, 40n), n .* values_of(T, 40n), values_of(T, 40n)))
case(pulls_at_ends!,
     (T, n) -> (zeros(T, n + 1), places_in(50n, n + 1), places_in(50n, n + 1, 5), values_of(T, 50n), values_of(T, n + 1)))
for corners in (3, 4, 70)
    case(parts_of_nodes!, (T, n) -> (zeros(T, 3, n + 1), reshape(places_in(20n * corners, n + 1), corners, 20n),
                                     values_of(T, 3, corners, 20n)))
end
case(weighed_columns!, (T, n) -> (zeros(T, 5, n), zeros(T, 5, n), reshape(places_in(300n, 5), 300, n), values_of(T, 300, n)))
case(scattered_under_conditions!,
     (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), reshape(places_in(90n, n + 1), 90, n), values_of(T, 90, n)))
case(scattered_under_conditions!,
     (T, n) -> (values_of(T, n + 1), zeros(T, n + 1), reshape(places_in(90n, n + 1), n, 90), values_of(T, n, 90)))
case(scattered_rounds!, (T, n) -> (values_of(T, 3, 4), places_in(50n, 3), places_in(50n, 4), values_of(T, 50n), 3))
case(scattered_chain!, (T, n) -> (values_of(T, n + 1), places_in(20n, n + 1), values_of(T, 20n) ./ 8))
case(scattered_rows!,
     (T, n) -> (values_of(T, n + 1), [1 + 7i for i in 0:10n], places_in(70n, n + 1), values_of(T, 70n)))

# A place that is not there: nothing has been written yet.
case(scattered_sums!, (T, n) -> (values_of(T, n), places_in(60n, n + 1), values_of(T, 60n)))
case(pulls_at_ends!,
     (T, n) -> (zeros(T, n + 1), places_in(50n, n + 1), places_in(50n, n + 2), values_of(T, 50n), values_of(T, n + 1)))

# Subscripts that are looked at under conditions, of a table and of the array that is stored to.
@tessella function scattered_by_directions(direction)
    n = length(direction)
    moves = [-1, -1, -1, 0, 0, 1, 1, 1]
    found = zeros(Int, n)
    for i in 1:n
        k = direction[i]
        if k > 0
            found[i+moves[k]] += 1
        end
    end
    return found
end
for size in (3, 40, 100)
    case(scattered_by_directions, (T, n) -> ([i == 1 || i == size ? 0 : i % 9 for i in 1:size],); types = [Float64])
end
