# What the source throws: `throw`, `error` and `@assert`, anywhere in a function.

@tessella function thrown_mismatch!(C, A, B)
    m, k = size(A)
    kb, n = size(B)
    k == kb || throw(DimensionMismatch("A has $k columns, B has $kb rows"))
    size(C) == (m, n) || throw(DimensionMismatch("C has the wrong size"))
    for j in 1:n, i in 1:m
        s = zero(eltype(C))
        for l in 1:k
            s += A[i, l] * B[l, j]
        end
        C[i, j] = s
    end
    return C
end

@tessella function thrown_in_branches(x, n::Int)
    if n < 0
        throw(DomainError(n, "must not be negative"))
    elseif n > length(x)
        error("only ", length(x), " elements")
    else
        count = n
    end
    s = zero(eltype(x))
    for i in 1:count
        s += x[i]
    end
    return s
end

@tessella function asserted!(y, x; dt = 0.5)
    n = length(x)
    @assert length(y) == n "lengths differ"
    @assert dt > 0
    @assert n != 17 || x[1] < 100
    for i in 1:n
        y[i] = x[i] * dt
    end
    @assert n >= 1
end

# Nothing but the assertion knows that the middle is inside.
@tessella function asserted_middle(x, k)
    @assert 1 <= k <= length(x)
    return 2 * x[k]
end

checked_root(x) = x < 0 ? throw(DomainError(x)) : sqrt(x)

reciprocal(x) = iszero(x) ? error("no reciprocal") : inv(x)

function positive(x)
    x > 0 && return x
    throw(ArgumentError("not positive"))
end

# Depends on data: each element is looked at before anything is written.
@tessella function thrown_for_elements!(y, x)
    for i in eachindex(x)
        y[i] = checked_root(x[i])
    end
    return nothing
end

@tessella function thrown_for_one_element!(y, x, k)
    for i in eachindex(x)
        if i == k
            y[i] = reciprocal(x[i])
        elseif i > k
            y[i] = positive(abs(x[i]) + 1)
        end
    end
    return nothing
end

@tessella function thrown_in_loops!(y, x, limit)
    for i in eachindex(x)
        x[i] == limit && error("the limit is met at $i")
        for j in 1:i
            j == 14 && i == 16 && throw(ErrorException("too far"))
            y[i] += x[j]
        end
    end
end

# The value of the last statement is that of its condition.
@tessella function thrown_last(x)
    n = length(x)
    n < 17 || throw(ArgumentError("too long"))
end

@tessella function thrown_last_and(x)
    n = length(x)
    n > 3 && throw(ArgumentError("too long"))
end

@tessella function thrown_or_value(x)
    if length(x) > 2
        return x[3]
    else
        throw(ArgumentError("too short"))
    end
end

case(thrown_mismatch!, (T, n) -> (zeros(T, n, 2), values_of(T, n, 3), values_of(T, 3, 2)))
case(thrown_mismatch!, (T, n) -> (zeros(T, n, 3), values_of(T, n, n), values_of(T, 3, 3)); types = [Float64])
case(thrown_mismatch!, (T, n) -> (zeros(T, n, 3), values_of(T, n, 3), values_of(T, 3, 2)); types = [Float64])
case(thrown_in_branches, (T, n) -> (values_of(T, n), 2))
case(thrown_in_branches, (T, n) -> (values_of(T, n), n - 2); types = [Float64])
case(asserted!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(asserted!, (T, n) -> (zeros(T, 3), values_of(T, n)); types = [Float64])
case(asserted_middle, (T, n) -> (values_of(T, n), 2))
case(thrown_for_elements!, (T, n) -> (zeros(T, n), abs.(values_of(T, n))))
case(thrown_for_elements!, (T, n) -> (zeros(T, n), values_of(T, n)); types = [Float64])
case(thrown_for_one_element!, (T, n) -> (zeros(T, n), values_of(T, n), 1))
case(thrown_for_one_element!, (T, n) -> (zeros(T, n), zeros(T, n), 3); types = [Float64])
case(thrown_in_loops!, (T, n) -> (zeros(T, n), values_of(T, n), T(2)))
case(thrown_in_loops!, (T, n) -> (zeros(T, n), values_of(T, n), T(0)); types = [Float64])
case(thrown_last, (T, n) -> (values_of(T, n),); types = [Float64])
case(thrown_last_and, (T, n) -> (values_of(T, n),); types = [Float64])
case(thrown_or_value, (T, n) -> (values_of(T, n),))
