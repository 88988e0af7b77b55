# Arrays whose size is the larger or the smaller of two numbers.

@tessella function chosen_inner(x)
    inner = zeros(eltype(x), max(length(x) - 2, 0))
    for i in 1:length(inner)
        inner[i] = x[i] + x[i+2]
    end
    return inner
end

case(chosen_inner, (T, n) -> (values_of(T, n),))

# By a name, and with a number of elements that turns out negative, or too large.
@tessella function chosen_first(x, width)
    n = length(x)
    d = min(n, width)
    y = zeros(eltype(x), d)
    for i in 1:d
        y[i] = 2 * x[i]
    end
    return y
end

case(chosen_first, (T, n) -> (values_of(T, n), 2))
case(chosen_first, (T, n) -> (values_of(T, n), 40))
case(chosen_first, (T, n) -> (values_of(T, n), -1))

@tessella function chosen_windows(x, width)
    n = length(x)
    m = max(n - width + 1, 0)
    y = zeros(eltype(x), m)
    for i in 1:m
        for k in 0:width-1
            y[i] += x[i+k]
        end
    end
    return y
end

case(chosen_windows, (T, n) -> (values_of(T, n), 3))
case(chosen_windows, (T, n) -> (values_of(T, n), 0))

# Of three, of products with one, and in a matrix; one element too many is read.
@tessella function chosen_band(x, w)
    n = length(x)
    b = zeros(eltype(x), 2 * min(n, w) + 1, min(n, w, 4))
    for j in 1:size(b, 2), i in 1:size(b, 1)
        b[i, j] = x[j] + i
    end
    return b
end

case(chosen_band, (T, n) -> (values_of(T, n), 3))
case(chosen_band, (T, n) -> (values_of(T, n), 30))

@tessella function chosen_too_short(x)
    y = zeros(eltype(x), max(length(x), 3))
    for i in 1:length(x)+1
        y[i] = i
    end
    return y
end

case(chosen_too_short, (T, n) -> (values_of(T, n),))

# What a loop's iterator decides stays with its iterations.
@tessella function chosen_of_argument(x, n, m)
    y = zeros(eltype(x), max(n, m))
    for i in 1:min(length(x), length(y))
        y[i] = x[i]
    end
    return y
end

case(chosen_of_argument, (T, n) -> (values_of(T, n), n, 2))
case(chosen_of_argument, (T, n) -> (values_of(T, n), -274877906944, n))
case(chosen_of_argument, (T, n) -> (values_of(T, n), -274877906944, -n))
