# Variables and elements that many iterations set to one constant, whoever comes last: such loops run in parallel, and loops that data end may
# hang on them.

@tessella function marked_often!(mark, idx)
    for i in eachindex(idx)
        mark[idx[i]] = true
    end
    return nothing
end
case(marked_often!, (T, n) -> (fill(false, n + 1), Int[mod(5i * i, n + 1) + 1 for i in 1:3n]); types = DataType[Float64])

@tessella function some_above(A, limit)
    found = false
    m, n = size(A)
    for j in 1:n, i in 1:m
        if A[i, j] > limit
            found = true
        end
    end
    return found
end
case(some_above, (T, n) -> (values_of(T, n, n + 2), T(0.9)))
case(some_above, (T, n) -> (values_of(T, n, n + 2), T(2)))

# Of two constants, the last one counts.
@tessella function last_sign(x)
    sign = 0
    for i in eachindex(x)
        if x[i] > 0
            sign = 1
        elseif x[i] < 0
            sign = -1
        end
    end
    return sign
end
case(last_sign, (T, n) -> (values_of(T, n),))
case(last_sign, (T, n) -> (T[isodd(i) ? 1 : -1 for i in 1:n],))

# What was read between two stores of the same keeps its place.
@tessella function seen_before!(count, seen, idx)
    for i in eachindex(idx)
        count[i] = seen[idx[i]] ? 1 : 0
        seen[idx[i]] = true
    end
    return nothing
end
case(seen_before!, (T, n) -> (zeros(Int, 2n), fill(false, n), Int[mod(7i, n) + 1 for i in 1:2n]); types = DataType[Float64])

@tessella function cleared_between!(mark, idx, rounds)
    for r in 1:rounds
        for i in eachindex(mark)
            mark[i] = 0
        end
        for i in eachindex(idx)
            if mod(i, r + 1) == 0
                mark[idx[i]] = 1
            end
        end
    end
    return nothing
end
case(cleared_between!, (T, n) -> (zeros(T, n), Int[mod(3i, n) + 1 for i in 1:2n], 3))

@tessella function regions_grown!(label, next)
    m, n = size(label)
    rounds = 0
    changed = true
    while changed
        changed = false
        for j in 1:n, i in 1:m
            least = label[i, j]
            if i > 1 && label[i-1, j] < least
                least = label[i-1, j]
                changed = true
            end
            if j < n && label[i, j+1] < least
                least = label[i, j+1]
                changed = true
            end
            next[i, j] = least
        end
        for j in 1:n, i in 1:m
            label[i, j] = next[i, j]
        end
        rounds += 1
    end
    return rounds
end
case(regions_grown!, (T, n) -> (values_of(T, n, n + 1), zeros(T, n, n + 1)))

# Centers that points find are tested by all points at once.
@tessella function centers_moved!(own, center, x, most)
    points = length(x)
    count = zeros(Int, length(center))
    total = zeros(eltype(center), length(center))
    for turn in 1:most
        changed = false
        for p in 1:points
            nearest, least = 1, typemax(eltype(x))
            for c in eachindex(center)
                distance = abs(x[p] - center[c])
                if distance < least
                    nearest, least = c, distance
                end
            end
            if own[p] != nearest
                own[p] = nearest
                changed = true
            end
        end
        changed || break
        total .= 0
        count .= 0
        for p in 1:points
            count[own[p]] += 1
            total[own[p]] += x[p]
        end
        for c in eachindex(center)
            if count[c] > 0
                center[c] = total[c] / count[c]
            end
        end
    end
    return nothing
end
case(centers_moved!, (T, n) -> (zeros(Int32, n), T[-0.5, 0.25, 0.5], values_of(T, n), 5))
# Without a center, the first one is not there.
case(centers_moved!, (T, n) -> (zeros(Int32, n), T[], values_of(T, n), 5))

@tessella function counted_and_weighed!(count, cell, weight, force, x)
    for p in eachindex(x)
        cell[p] = unsafe_trunc(Int, 4 * x[p]) + 3
        count[cell[p]] += 1
        force[p] = weight[cell[p]] * x[p]
    end
    return nothing
end
for (C, cells) in ((Int32, 8), (Int, 8), (UInt8, 8), (Int16, 4))
    case(counted_and_weighed!,
         (T, n) -> (zeros(C, cells), zeros(Int, n), values_of(T, cells + 1), zeros(T, n), values_of(T, n)))
end

# Blocks of four by four, each in a work array of its own.
@tessella function blocks_turned!(out, A)
    m, n = size(A)
    work = zeros(eltype(A), 4, 4)
    for b in 0:4:n-4, a in 0:4:m-4
        for j in 1:4, i in 1:4
            work[i, j] = A[a+i, b+j]
        end
        for j in 1:4, i in 1:4
            out[a+i, b+j] = work[j, 5-i]
        end
    end
    return nothing
end
case(blocks_turned!, (T, n) -> (zeros(T, n, 2n), values_of(T, n, 2n)))

@tessella function columns_flagged!(flag, y, x)
    m, n = size(x)
    for j in 1:n, i in 1:m
        y[i, j] = 2 * x[i, j]
        if x[i, j] > 0.9
            flag[j] = 1
        end
    end
    return nothing
end
case(columns_flagged!, (T, n) -> (zeros(T, n), zeros(T, 40, n), values_of(T, 40, n)))

# A work array that is filled on: what one column leaves, the next one reads, also behind where its loop has nothing to do any more.
@tessella function filled_on!(y, x)
    n = size(x, 2)
    work = zeros(10)
    for j in 1:n
        more = true
        for t in 1:10
            goes = more
            if j > 1
                if goes
                    y[j] += work[11-t]
                end
            end
            if goes
                more = y[j] < 0
            end
            work[t] = x[t, j]
        end
    end
    return nothing
end
case(filled_on!, (T, n) -> (zeros(n), Float64.(values_of(T, 10, n))); types = DataType[Float64])

# A loop that data end stays one, whatever else is in it.
@tessella function settled!(s, x, z, most)
    rounds = 0
    go = true
    while go && rounds < most
        go = false
        for i in 2:length(s)
            s[i] = s[i-1] / 2 + x[i]
        end
        for i in eachindex(z)
            if abs(z[i]) > 0.01
                go = true
            end
            z[i] /= 2
        end
        rounds += 1
    end
    return rounds
end
case(settled!, (T, n) -> (zeros(T, n), values_of(T, n), values_of(T, n), 100))
