# Subscripts that are computed: read from integer arrays, or made of numbers.

@tessella function gather!(y, x, idx)
    for i in eachindex(y)
        y[i] = x[idx[i]]
    end
end

@tessella function scatter!(y, x, idx)
    for i in eachindex(x)
        y[idx[i]] = x[i]
    end
end

@tessella function histogram!(H, b)
    for i in eachindex(b)
        H[b[i]] += 1
    end
end

@tessella function histogram_of_bytes!(H, img)
    m, n = size(img)
    for j in 1:n, i in 1:m
        H[img[i, j] + 1] += 1
    end
end

@tessella function lookup!(B, lut, img)
    for j in axes(B, 2), i in axes(B, 1)
        B[i, j] = lut[img[i, j]] + lut[img[i, j] + 1]
    end
end

@tessella function ellpack!(y, A, col, x)
    m, k = size(A)
    for i in 1:m
        y[i] = 0
        for l in 1:k
            y[i] += A[i, l] * x[col[i, l]]
        end
    end
end

@tessella function two_steps!(y, x, p, q)
    for i in eachindex(y)
        k = q[p[i]]
        y[i] = x[k] - k
        y[i] += 2 * x[k]
    end
end

@tessella function row_of_matrix!(B, A, rows)
    for j in axes(B, 2), i in axes(B, 1)
        B[i, j] = A[rows[i], j] + 1
    end
end

@tessella function assembly!(F, nodes, f)
    for e in axes(nodes, 2), a in axes(nodes, 1)
        F[nodes[a, e]] += f[e] / 2
    end
end

@tessella function only_where!(y, x, idx, mask)
    for i in eachindex(y)
        if mask[i] > 0
            y[i] = x[idx[i]]
        else
            y[i] = idx[i] > 0 && idx[i] <= length(x) ? x[idx[i]] : y[i]
        end
    end
end

@tessella function in_the_condition!(y, x, idx)
    for i in eachindex(y)
        if x[idx[i]] > 0
            y[i] = i
        end
    end
end

@tessella function linearized!(B, a)
    m, n = size(B)
    for j in 1:n, i in 1:m
        B[i, j] = a[(j - 1) * m + i]
    end
end

@tessella function warp!(B, A, c, s)
    m, n = size(A)
    for j in axes(B, 2), i in axes(B, 1)
        x = unsafe_trunc(Int, c * i + s * j)
        y = unsafe_trunc(Int, c * j - s * i)
        B[i, j] = A[clamp(x, 1, m), clamp(y, 1, n)]
    end
end

@tessella function unchecked_compaction!(y, x)
    k = 0
    @inbounds for i in eachindex(x)
        if x[i] > 0
            k += 1
            y[k] = x[i]
        end
    end
    return k
end

@tessella function inverse_then_use!(y, x, p)
    for i in eachindex(p)
        y[p[i]] = i
    end
    for i in eachindex(p)
        y[i] += x[p[i]]
    end
end

@tessella function transposed_through!(B, A, r, c)
    for i in eachindex(r), j in eachindex(c)
        B[c[j], r[i]] = A[r[i], c[j]]
    end
end

@tessella function local_table!(y, idx)
    t = zeros(eltype(y), 8)
    for k in 1:8
        t[k] = k * k
    end
    for i in eachindex(y)
        y[i] = t[idx[i]]
    end
end

@tessella function wrapped_around!(y, x, k)
    for i in eachindex(y)
        y[i] = x[mod1(k[i], 5)] + x[k[i] & 3 + 1]
    end
end

within(T, n, sizes...) = T[mod(13k + 5, max(n, 1)) + 1 for k in reshape(1:prod(sizes), sizes...)]

case(gather!, (T, n) -> (zeros(T, n), values_of(T, n + 2), within(Int, n + 2, n)))
case(gather!, (T, n) -> (zeros(T, n), values_of(T, n + 2), within(Int32, n + 2, n)))
case(gather!, (T, n) -> (zeros(T, n), values_of(T, n + 2), within(UInt8, n + 2, n)))
case(scatter!, (T, n) -> (values_of(T, n + 1), values_of(T, n), within(Int16, n + 1, n)))
case(histogram!, (T, n) -> (zeros(Int, 5), within(UInt16, 5, 3n)); types = [Float64])
case(histogram!, (T, n) -> (zeros(T, 5), within(Int, 5, 3n)))
case(histogram_of_bytes!, (T, n) -> (zeros(Int, 256), values_of(UInt8, n, n + 1)); types = [Float64])
case(lookup!, (T, n) -> (zeros(T, n, n), values_of(T, 9), within(UInt8, 8, n, n)))
case(ellpack!, (T, n) -> (values_of(T, n), values_of(T, n, 3), within(Int32, n + 1, n, 3), values_of(T, n + 1)))
case(two_steps!, (T, n) -> (zeros(T, n), values_of(T, n + 1), within(Int, n + 3, n), within(Int, n + 1, n + 3)))
case(row_of_matrix!, (T, n) -> (zeros(T, n, 3), values_of(T, n + 1, 3), within(Int, n + 1, n)))
case(assembly!, (T, n) -> (zeros(T, n + 1), within(Int, n + 1, 3, n), values_of(T, n)))
case(only_where!, (T, n) -> (zeros(T, n), values_of(T, 3), Int[k % 5 == 0 ? -7 : k % 3 + 1 for k in 1:n], Int[k % 5 for k in 1:n]))
case(in_the_condition!, (T, n) -> (zeros(T, n), values_of(T, n + 1), within(Int, n + 1, n)))
case(linearized!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n * (n + 1))))
case(warp!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n + 2, 5), T(0.8), T(0.6)))
case(unchecked_compaction!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(inverse_then_use!, (T, n) -> (zeros(T, n), values_of(T, n), collect(n:-1:1)))
case(transposed_through!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n + 1, n), within(Int, n + 1, n), within(Int, n, n)); types = [Float64])
case(local_table!, (T, n) -> (zeros(T, n), within(Int, 8, n)))
case(wrapped_around!, (T, n) -> (zeros(T, n), values_of(T, 5), within(Int, 100, n)))

# Outside: Julia raises, and so does what is checked at entry. Not all sizes get as far as the wrong subscript.
spoiled(indices, value) = (isempty(indices) || (indices[end] = value); indices)

case(gather!, (T, n) -> (zeros(T, n), values_of(T, n + 2), spoiled(within(Int, n, n), 0)))
case(gather!, (T, n) -> (zeros(T, n), values_of(T, n + 2), spoiled(within(Int8, n, n), -1)))
case(scatter!, (T, n) -> (values_of(T, n + 1), values_of(T, n), spoiled(within(Int, n, n), n + 2)))
case(histogram!, (T, n) -> (zeros(T, 5), spoiled(within(UInt8, 5, 3n), 0x06)))
case(histogram_of_bytes!, (T, n) -> (zeros(Int, 9), values_of(UInt8, n, n + 1)); types = [Float64])
case(ellpack!, (T, n) -> (values_of(T, n), values_of(T, n, 3), spoiled(within(Int32, n + 1, n, 3), 99), values_of(T, n + 1)))
case(two_steps!, (T, n) -> (zeros(T, n), values_of(T, n + 1), spoiled(within(Int, n, n), typemax(Int)), within(Int, n, n)))
case(two_steps!, (T, n) -> (zeros(T, n), values_of(T, n), collect(1:n), spoiled(within(Int, n, n), typemin(Int))))
case(only_where!, (T, n) -> (zeros(T, n), values_of(T, 3), fill(4, n), Int[k == 17 for k in 1:n]))
case(warp!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n - n % 2, 0), T(0.8), T(0.6)))
case(linearized!, (T, n) -> (zeros(T, n, n), values_of(T, n)))
case(inverse_then_use!, (T, n) -> (zeros(T, n), values_of(T, n), collect(n+1:-1:2)))
case(local_table!, (T, n) -> (zeros(T, n), spoiled(within(Int, 8, n), 9)))

# The condition has looked at the subscript of the store.
@tessella function gather_relaxed!(dist, from, to, weight)
    for e in eachindex(weight)
        d = dist[from[e]] + weight[e]
        if d < dist[to[e]]
            dist[to[e]] = d
        end
    end
end

# It has not, in the other branch.
@tessella function gather_either!(x, y, idx)
    for i in eachindex(idx)
        if y[idx[i]] > 0
            x[i] = 1
        else
            x[i] = y[idx[i]] - 1
        end
    end
end

# A subscript that the function computes: `clamp` keeps it inside, unless there is nothing to be inside of.
@tessella function gather_clamped!(counts::Vector{Int}, cell::Vector{Int}, x)
    for p in eachindex(x)
        cell[p] = unsafe_trunc(Int, 4 * x[p])
    end
    for p in eachindex(cell)
        counts[clamp(cell[p], 1, length(counts))] += 1
    end
end

edges(n) = [mod1(3k, max(n, 1)) for k in 1:(n > 0 ? 2n : 0)]

case(gather_relaxed!, (T, n) -> (abs.(values_of(T, n)) .+ 1, edges(n), reverse(edges(n)), abs.(values_of(T, n > 0 ? 2n : 0))))
case(gather_relaxed!, (T, n) -> (abs.(values_of(T, n)) .+ 1, edges(n + 1), edges(n), abs.(values_of(T, n > 0 ? 2n : 0))); types = [Float64])
case(gather_relaxed!, (T, n) -> (abs.(values_of(T, n)) .+ 1, edges(n), edges(n + 1), abs.(values_of(T, n > 0 ? 2n : 0))); types = [Float64])
case(gather_either!, (T, n) -> (zeros(T, n), values_of(T, n), collect(n:-1:1)))
case(gather_either!, (T, n) -> (zeros(T, n), values_of(T, n), collect(0:n-1)); types = [Float64])
case(gather_clamped!, (T, n) -> (zeros(Int, 3), zeros(Int, n), values_of(T, n)))
case(gather_clamped!, (T, n) -> (zeros(Int, 0), zeros(Int, n), values_of(T, n)); types = [Float64])
