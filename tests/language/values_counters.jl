# Counters in arrays of narrow integers, and arithmetic of narrow integers where loops and subscripts need it.

@tessella function narrow_histogram!(counts, bin)
    for i in eachindex(bin)
        counts[bin[i]] += 1
    end
end

@tessella function narrow_image_histogram!(counts, img)
    fill!(counts, 0)
    for j in axes(img, 2), i in axes(img, 1)
        counts[img[i, j] + 1] += 1
    end
    return counts
end

@tessella function counts_made_inside(labels, n)
    counts = zeros(eltype(labels), n)
    for i in eachindex(labels)
        counts[labels[i]] += 1
    end
    return counts
end

@tessella function up_and_down!(level, x, limit)
    m, n = size(x)
    for j in 1:n, i in j:m
        if x[i, j] > limit
            level[j] += 2
        elseif x[i, j] < -limit
            level[i] -= 1
        end
        level[i] += x[i, j] == 0
    end
end

@tessella function counted_and_converted!(counts, y, bin)
    for i in eachindex(bin)
        v = counts[bin[i]] + 1
        counts[bin[i]] = v
        y[i] = v
    end
end

@tessella function counts_checked_first!(counts, bin)
    for c in counts
        c >= 0 || throw(DomainError(c))
    end
    for i in eachindex(bin)
        counts[bin[i]] += one(eltype(counts))
    end
end

@tessella function narrow_subscripts!(y, x, idx, n)
    one32 = Int32(1)
    for i in one32:n
        y[i] = x[idx[i] + one32] + x[idx[n - i + one32]]
    end
end

@tessella function narrow_triangle!(y, n, m)
    for i in 1:n, j in i:m
        y[i] += j * i
    end
end

"The number of steps is an argument of a narrow type."
@tessella function counted_so_often!(counts, n)
    for i in 1:n
        counts[mod1(i, length(counts))] += 1
    end
end
case(counted_so_often!, (T, n) -> (zeros(Int32, 3), T(n)); types = [Int32, UInt8, Int64])

for C in (Int32, UInt32, Int16, UInt8)
    case(narrow_histogram!, (T, n) -> (zeros(C, n), within(T, n, n)); types = [Int, Int32])
    case(narrow_image_histogram!, (T, n) -> (fill(C(7), 256), T[mod(31i + 5j, 256) for i in 1:n, j in 1:2]); types = [UInt8])
end
# Full after so many.
case(narrow_histogram!, (T, n) -> (fill(typemax(T) - T(9), 1), ones(Int, n)); types = [UInt8, Int16, Int32])
case(narrow_histogram!, (T, n) -> (zeros(T, n + 1), collect(2:n+1)); types = [Int8, Int32])
case(counts_made_inside, (T, n) -> (fill(T(1), 20n), 3); types = [UInt8, Int32])
case(counts_made_inside, (T, n) -> (within(T, 3, 20n), 3); types = [UInt8, Int32])
case(up_and_down!, (T, n) -> (zeros(Int32, n), values_of(T, n, n), T(0.25)))
case(up_and_down!, (T, n) -> (fill(typemin(Int32) + Int32(3), n), values_of(T, n, n), T(0.25)))
case(counted_and_converted!, (T, n) -> (fill(T(3), 2), zeros(Int, n), within(Int, 2, n)); types = [Int32, Int])
case(counts_checked_first!, (T, n) -> (T[3 - (n == 17) * (k == 2) * 4 for k in 1:2], within(Int, 2, n)); types = [Int32, Int])
for I in (Int32, Int64)
    case(narrow_subscripts!, (T, n) -> (zeros(T, n), values_of(T, n + 1), within(I, n, n), Int32(n)))
    case(narrow_triangle!, (T, n) -> (zeros(T, n), Int32(n), I(n + 2)))
end
