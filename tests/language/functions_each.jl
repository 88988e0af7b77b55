# `foreach` and `map!`.

@tessella each_by_closure!(y, x) = (foreach(i -> y[i] = 2 * x[i], eachindex(x)); nothing)
case(each_by_closure!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(each_by_closure!, (T, n) -> (zeros(T, n ÷ 2), values_of(T, n)))

@tessella function each_by_block!(y, x)
    s = zero(eltype(x))
    k = 0
    foreach(x) do v
        s += v
        k += 1
        t = s * k
        y[k] = t
    end
    return (s, k)
end
case(each_by_block!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function each_of_pairs!(y, x)
    foreach(enumerate(x)) do (i, v)
        foreach(1:i) do j
            y[j] += v
        end
        if v > 0
            foreach(j -> y[j] -= 1, i:length(y))
        end
    end
    @inbounds foreach(i -> y[i] += 1, eachindex(y))
end
case(each_of_pairs!, (T, n) -> (zeros(T, n), values_of(T, n)))

each_counted!(y, n) = foreach(i -> (y[i] += i; n -= 1; y[i] += n), 1:n)
@tessella each_in_helper!(y, n) = (each_counted!(y, n); y[1] += n; nothing)
case(each_in_helper!, (T, n) -> (values_of(T, n), n))

@tessella map_to!(y, x) = (map!(v -> 2v + 1, y, x); nothing)
case(map_to!, (T, n) -> (values_of(T, n), values_of(T, n)))
case(map_to!, (T, n) -> (values_of(T, n), values_of(T, n + 2)))
case(map_to!, (T, n) -> (values_of(T, n + 2), values_of(T, n)))
case(map_to!, (T, n) -> (values_of(T, n, 3), values_of(T, n, 3)))
case(map_to!, (T, n) -> (zeros(Int32, n), values_of(Int16, n)); types = [Float64])

@tessella map_given_back!(y, x) = map!(abs, y, x)
case(map_given_back!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella map_of_two!(z, x, y) = (map!(-, z, x, y); map!((a, b) -> a * b, z, z, 2 .* y); nothing)
case(map_of_two!, (T, n) -> (zeros(T, n), values_of(T, n), values_of(T, n + 1)))

# One after the other: what is stored is read again.
@tessella map_along!(x) = (map!(v -> v / 2, view(x, 2:length(x)), view(x, 1:length(x)-1)); nothing)
case(map_along!, (T, n) -> (values_of(T, n),))

# Other functions with a block, whose value is that of its last statement.
@tessella function blocks_reduced!(y, x)
    limit = one(eltype(x)) / 4
    s = sum(x) do v
        v > limit ? v : -limit
    end
    map!(y, x) do v
        w = 2v
        w * w - s
    end
    z = map(x, y) do u, v
        u * v
    end
    n = count(z) do v
        v > 0
    end
    return n, ntuple(2) do i
        i * s
    end, z
end
case(blocks_reduced!, (T, n) -> (values_of(T, n), values_of(T, n)))

# As far as both have elements; the interpreter has no original function that goes so far.
@tessella map_to_the_shorter(x, y) = map((a, b) -> a * b, x, y), sum(map(+, y, x)), map([1, 2, 3], [4, 5]) do a, b
    a + 2b
end
case(map_to_the_shorter, (T, n) -> (values_of(T, n), values_of(T, 3)); targets = [:c])
