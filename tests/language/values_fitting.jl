# Integers that are stored in narrower arrays: what variables lie between says that they fit, for all sizes or for those that do.

"Living neighbours, at most eight."
@tessella function neighbours!(c, a)
    m, n = size(a)
    for j in 2:n-1, i in 2:m-1
        k = 0
        for dj in -1:1, di in -1:1
            if (di != 0 || dj != 0) && a[i+di, j+dj] > 0
                k += 1
            end
        end
        c[i, j] = k
    end
end

@tessella function pooled_places!(out, place, x)
    for j in axes(out, 2), i in axes(out, 1)
        best = typemin(eltype(x))
        at = -1
        for b in 1:2, a in 1:2
            v = x[2*(i-1)+a, 2*(j-1)+b]
            if v > best
                best = v
                at = a + 2 * (b - 1)
            end
        end
        out[i, j] = best
        place[i, j] = at
    end
end

@tessella function escape_times!(out, x, most)
    for i in eachindex(x)
        z = zero(eltype(x))
        n = 0
        while n < most && abs(z) <= 2
            z = z * z + x[i]
            n += 1
        end
        out[i] = n
    end
end

@tessella function escape_times_by_break!(out, x, most)
    for i in eachindex(x)
        z = zero(eltype(x))
        count = most
        for n in 1:most
            if abs(z) > 2
                count = n - 1
                break
            end
            z = z * z + x[i]
        end
        out[i] = count
    end
end

@tessella function nearest!(label, x, centre)
    for i in eachindex(x)
        best = typemax(eltype(x))
        at = 0
        for c in eachindex(centre)
            d = abs(x[i] - centre[c])
            if d < best
                best = d
                at = c
            end
        end
        label[i] = at
    end
end

"More than a byte holds for the last of the sizes; of a column, less."
@tessella function counts_of_columns!(c, total, a)
    all = 0
    for j in axes(a, 2)
        k = 0
        for i in axes(a, 1)
            if a[i, j] > 0
                k += 1
                all += 1
            end
        end
        c[j] = k
    end
    total[1] = all
end

"Steps of both signs, and of data of a small type."
@tessella function walk!(out, x, small)
    for j in axes(x, 2)
        k = 2
        for i in axes(x, 1)
            k = x[i, j] > 0 ? k + 3 : x[i, j] < 0 ? k - 2 : k
            k -= small[i, j]
        end
        out[j] = k
    end
end

"A variable of a small type wraps around before it is stored."
@tessella function wrapping!(out, x)
    for j in axes(x, 2)
        k = Int8(100)
        for i in axes(x, 1)
            if x[i, j] > 0
                k += Int8(1)
            end
        end
        out[j] = k
    end
end

"A variable that is made of another one."
@tessella function of_another!(out, x)
    for j in axes(x, 2)
        k = 0
        l = 1
        for i in axes(x, 1)
            if x[i, j] > 0
                k = l
                l = max(l, i) + k - l
            end
        end
        out[j] = k - 2l
    end
end

@tessella function gray!(g, rgb)
    for j in axes(g, 2), i in axes(g, 1)
        g[i, j] = (77 * rgb[1, i, j] + 150 * rgb[2, i, j] + 29 * rgb[3, i, j]) >> 8
    end
end

@tessella function differences!(g, a, b)
    for i in eachindex(g)
        g[i] = 128 + (Int(a[i]) - b[i]) ÷ 2 - (mod(a[i], 2) & 1)
    end
end

"What an argument holds is one of the values."
@tessella function with_argument!(out, x, first)
    for j in axes(x, 2)
        k = first
        for i in axes(x, 1)
            if x[i, j] > 0
                k = k + i
            end
        end
        out[j] = k
    end
end

for C in (UInt8, Int8, Int32)
    case(neighbours!, (T, n) -> (zeros(C, n, n + 1), values_of(T, n, n + 1)))
    case(pooled_places!, (T, n) -> (zeros(T, n, 2), zeros(C, n, 2), values_of(T, 2n, 4)))
    case(nearest!, (T, n) -> (zeros(C, n), values_of(T, n), values_of(T, 5)))
    case(nearest!, (T, n) -> (zeros(C, n), values_of(T, n), T[]))
    case(escape_times!, (T, n) -> (zeros(C, n), 3 .* values_of(T, n), 40))
    case(escape_times_by_break!, (T, n) -> (zeros(C, n), 3 .* values_of(T, n), 40))
end
# Too many steps for the array: the original function runs.
case(escape_times!, (T, n) -> (zeros(UInt8, n), 3 .* values_of(T, n), 300); targets = [:c])
case(escape_times_by_break!, (T, n) -> (zeros(Int8, n), 3 .* values_of(T, n), 130 - n); targets = [:c])
case(escape_times_by_break!, (T, n) -> (zeros(Int16, n), 3 .* values_of(T, n), -5))
for C in (UInt8, Int32)
    case(counts_of_columns!, (T, n) -> (zeros(Int8, n), zeros(C, 1), values_of(T, n + 3, n)); targets = [:c])
    case(counts_of_columns!, (T, n) -> (zeros(Int8, n), zeros(C, 1), abs.(values_of(T, n + 3, 2n)) .+ T(1)); targets = [:c])
end
for C in (Int8, Int16, UInt32)
    case(walk!, (T, n) -> (zeros(C, 2), values_of(T, n, 2), Int8[mod(7i, 5) - 2 for i in 1:n, j in 1:2]); targets = [:c])
    case(wrapping!, (T, n) -> (zeros(C, 2), fill(T(1), 3n, 2)); targets = [:c])
    case(of_another!, (T, n) -> (zeros(C, 2), values_of(T, n, 2)); targets = [:c])
    case(with_argument!, (T, n) -> (zeros(C, 2), values_of(T, n, 2), 3); targets = [:c])
    case(with_argument!, (T, n) -> (zeros(C, 2), values_of(T, n, 2), typemax(C) - 1); targets = [:c])
end
case(with_argument!, (T, n) -> (zeros(Int32, 2), values_of(T, n, 2), typemax(Int) - 1); targets = [:c])
case(gray!, (T, n) -> (zeros(T, n, 2), reshape(UInt8[255 - mod(13k, 256) * (k > 9) for k in 1:6n], 3, n, 2)); types = [UInt8, Int16])
case(gray!, (T, n) -> (zeros(T, n, 2), fill(UInt8(255), 3, n, 2)); types = [UInt8, Int8])
case(differences!, (T, n) -> (zeros(T, n), values_of(UInt8, n), fill(UInt8(255), n)); types = [UInt8, Int16])

# Wide arrays: what wraps around does not fit, though its one end does.
@tessella function next_in_wide!(out, a)
    for i in eachindex(a)
        out[i] = (a[i] & typemax(Int)) + 1
    end
end

@tessella function products_in_wide!(out, a)
    for i in eachindex(a)
        out[i] = Int(a[i]) * Int(a[i])
    end
end

@tessella function shifted_in_wide!(out, a)
    for i in eachindex(a)
        out[i] = (Int(a[i]) << 31) << 2
    end
end

@tessella function counted_in_wide!(out, x)
    for j in axes(x, 2)
        k = 0
        for i in axes(x, 1)
            if x[i, j] > 0
                k += 4611686018427387904
            end
        end
        out[j] = k
    end
end

case(next_in_wide!, (T, n) -> (zeros(UInt64, n), T[i == 17 ? typemax(T) : i for i in 1:n]); types = [Int64])
case(products_in_wide!, (T, n) -> (zeros(UInt64, n), T[i == 17 ? typemax(T) : i for i in 1:n]); types = [UInt32])
case(shifted_in_wide!, (T, n) -> (zeros(UInt64, n), T[i == 17 ? typemax(T) : i for i in 1:n]); types = [UInt32])
case(counted_in_wide!, (T, n) -> (zeros(UInt64, 2), fill(T(1), min(n, 2), 2)); targets = [:c])
