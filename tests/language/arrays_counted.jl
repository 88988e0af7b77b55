# Many updates of few elements: histograms, sums by class. Blocks of a GPU add them up in shared memory.

@tessella function counted!(counts, place)
    for p in eachindex(place)
        counts[place[p]] += 1
    end
end

@tessella function counted_and_compared!(counts, least, most, place, values)
    for p in eachindex(place)
        k = place[p]
        if values[p] != 7
            counts[k] += values[p]
        end
        least[k] = min(least[k], values[p])
        most[k] = max(most[k], values[p])
    end
end

@tessella function ends_counted!(degree, from, to)
    for e in eachindex(from)
        degree[from[e]] += 1
        degree[to[e]] -= 1
    end
end

@tessella function sums_by_class!(sums, counts, class, x)
    @fastmath for p in axes(x, 2)
        k = class[p]
        counts[k] += 1
        for c in axes(x, 1)
            sums[c, k] += x[c, p]
        end
    end
end

@tessella function joint_histogram!(H, a, b)
    for j in axes(a, 2), i in axes(a, 1)
        H[a[i, j], b[i, j]] += 1
    end
end

@tessella function histogram_of_channels!(H, image)
    for c in axes(image, 3), j in axes(image, 2), i in axes(image, 1)
        H[image[i, j, c], c] += 1
    end
end

@tessella function counted_in_steps!(counts, place, steps)
    for t in 1:steps
        for p in eachindex(place)
            counts[mod1(place[p] + t * counts[1], length(counts))] += 1
        end
        counts[1] += 1
    end
end

@tessella function counted_in_eight!(counts, place)
    @assert length(counts) == 8
    for p in eachindex(place)
        counts[(place[p] & 7) + 1] += 1
    end
end

many(T, n) = within(T, n + 1, 1024 * (n + 1) + 7)
# Sums of these are exact in any order.
whole(T, sizes...) = T.(values_of(Int, sizes...) .- 50)

case(counted!, (T, n) -> (values_of(T, n + 1), many(Int, n)); types = [Int64, Int32, UInt32])
case(counted!, (T, n) -> (values_of(T, 1024 * (n + 1)), many(Int32, n)); types = [Int64])
case(counted!, (T, n) -> (values_of(T, n + 1), spoiled(many(Int, n), n + 2)); types = [Int64])
case(counted_and_compared!,
     (T, n) -> (values_of(T, n + 1), values_of(T, n + 1), values_of(T, n + 1), many(Int, n), values_of(T, 1024 * (n + 1) + 7));
     types = [Int64, Int32])
case(ends_counted!, (T, n) -> (values_of(T, n + 1), many(Int, n), reverse(many(Int, n))); types = [Int64, Int32])
case(sums_by_class!,
     (T, n) -> (whole(T, 3, n + 1), zeros(Int, n + 1), many(Int, n), whole(T, 3, 1024 * (n + 1) + 7)))
case(joint_histogram!,
     (T, n) -> (zeros(T, n + 1, 4), within(Int, n + 1, 64n + 3000, n), within(Int, 4, 64n + 3000, n)); types = [Int64])
case(histogram_of_channels!, (T, n) -> (zeros(T, n + 1, 3), within(UInt8, n + 1, 600, n + 1, 3)); types = [Int64])
case(counted_in_steps!, (T, n) -> (values_of(T, n + 1), many(Int, n), 3); types = [Int64])
case(counted_in_eight!, (T, n) -> (values_of(T, 8), values_of(Int, 9000n)); types = [Int64, Int32])
