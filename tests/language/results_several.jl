# Results whose kind depends on the path taken.

@tessella function ends_with_if!(x)
    n = length(x)
    if n > 2
        x[1] = 2
    end
end
case(ends_with_if!, (T, n) -> (values_of(T, n),))

@tessella function ends_with_chain!(x, y)
    for i in eachindex(x)
        x[i] += 1
    end
    if length(x) > 2
        y[1] = x[1]
    elseif length(x) > 0
        y[1] = 0
    end
end
case(ends_with_chain!, (T, n) -> (values_of(T, n), values_of(T, 2)))

@tessella function ends_with_and!(x)
    length(x) > 2 && (x[1] = 1)
end
case(ends_with_and!, (T, n) -> (values_of(T, n),))

@tessella function ends_with_or!(x)
    length(x) <= 2 || (x[1] = 1)
end
case(ends_with_or!, (T, n) -> (values_of(T, n),))

@tessella function returns_or_falls(x)
    length(x) > 2 && return 1
end
case(returns_or_falls, (T, n) -> (values_of(T, n),))

@tessella function found_or_nothing(x, v)
    for i in eachindex(x)
        if x[i] == v
            return i
        end
    end
    return nothing
end
case(found_or_nothing, (T, n) -> (values_of(T, n), T(0.5)))
case(found_or_nothing, (T, n) -> (values_of(T, n), T(-0.6875)))

@tessella function place_or_zeros(A)
    for j in axes(A, 2)
        for i in axes(A, 1)
            A[i, j] > 0.5 && return (i, j, A[i, j])
        end
    end
    return (0, 0, zero(eltype(A)))
end
case(place_or_zeros, (T, n) -> (values_of(T, n, 3),))

@tessella function empty_or_made(x)
    n = length(x)
    if n == 0
        return zeros(0)
    end
    B = zeros(n)
    for i in 1:n
        B[i] = x[i]
    end
    return B
end
case(empty_or_made, (T, n) -> (values_of(T, n),))

@tessella function either_size(x)
    n = length(x)
    if n > 2
        B = zeros(n)
        for i in 1:n
            B[i] = x[i]
        end
        return B
    else
        C = zeros(2n)
        for i in 1:n
            C[2i] = x[i]
        end
        return C
    end
end
case(either_size, (T, n) -> (values_of(T, n),))

# The size of the array that is not made is negative.
@tessella function smaller_on_one_path(n)
    if n < 3
        return zeros(2)
    end
    return zeros(n - 3)
end
case(smaller_on_one_path, (T, n) -> (n,); types = DataType[Float64])

@tessella function numbers_of_two_types(x)
    if length(x) > 2
        return 1
    end
    return 0.5
end
case(numbers_of_two_types, (T, n) -> (values_of(T, n),))

@tessella function of_every_kind(x, k)
    if k == 0
        nothing
    elseif k == 1
        length(x)
    elseif k == 2
        (sum(abs, x), 2)
    elseif k == 3
        x .+ 1
    elseif k == 4
        -1
    else
        x
    end
end
for k in 0:5
    case(of_every_kind, (T, n) -> (values_of(T, n), k))
end

@tessella function complex_or_nothing(z, n)
    n > 2 && return z * im
    return nothing
end
case(complex_or_nothing, (T, n) -> (Complex{T}(1, 2), n))

@tessella function named_or_nothing(x)
    isempty(x) && return nothing
    return (lo = minimum(x), hi = maximum(x))
end
case(named_or_nothing, (T, n) -> (values_of(T, n),))

# The name in the comprehension means what it means in its branch.
@tessella function made_in_branches(x, c)
    if c > 2
        scale = c
        return [scale * v for v in x]
    end
    return [v + 1 for v in x], c
end
case(made_in_branches, (T, n) -> (values_of(T, n), n))

halve_first!(x) = if length(x) > 1
    x[1] /= 2
end
@tessella function helper_ending_with_if!(x)
    halve_first!(x)
    halve_first!(x)
    return x
end
case(helper_ending_with_if!, (T, n) -> (values_of(T, n),))
