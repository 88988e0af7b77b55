# Integers that loops step: what they hold is known from the iterators.

@tessella function stepped_pack!(y, A)
    m, n = size(A)
    k = 0
    for j in 1:n, i in 1:m
        k += 1
        y[k] = A[i, j]
    end
    return k
end
case(stepped_pack!, (T, n) -> (zeros(T, n * (n + 1)), values_of(T, n, n + 1)))
case(stepped_pack!, (T, n) -> (zeros(T, n * n), values_of(T, n, n + 1)); types = [Float64])

@tessella function stepped_after!(y, A)
    k = firstindex(y)
    for j in axes(A, 2)
        for i in axes(A, 1)
            y[k] = A[i, j]
            k = k + 1
        end
        y[k] = j
        k += 1
    end
    return k - 1
end
case(stepped_after!, (T, n) -> (zeros(T, n * (n + 2)), values_of(T, n + 1, n)))
case(stepped_after!, (T, n) -> (zeros(T, 5), values_of(T, 0, n)); types = [Float64])

# One loop: an affine subscript.
@tessella function stepped_by_two!(y, x)
    k = 1
    for i in eachindex(x)
        y[k] = x[i]
        y[k+1] = -x[i]
        k += 2
    end
    return k
end
case(stepped_by_two!, (T, n) -> (zeros(T, 2n), values_of(T, n)))
case(stepped_by_two!, (T, n) -> (zeros(T, 2n - (n > 2)), values_of(T, n)); types = [Float64])

@tessella function stepped_down!(y, x)
    k = length(y)
    for i in 1:length(x)
        y[k] = x[i]
        k -= 1
    end
    return k
end
case(stepped_down!, (T, n) -> (zeros(T, n), values_of(T, n)))
case(stepped_down!, (T, n) -> (zeros(T, n), values_of(T, n + 1)); types = [Float64])

@tessella function stepped_by_argument!(y, x, k0::Int, s::Int)
    k = k0
    for i in eachindex(x)
        y[k] += x[i]
        k += s
    end
    return k
end
case(stepped_by_argument!, (T, n) -> (values_of(T, 4n + 9), values_of(T, n), 3, 4))
case(stepped_by_argument!, (T, n) -> (values_of(T, 4n + 9), values_of(T, n), 4n + 9, -4))
case(stepped_by_argument!, (T, n) -> (values_of(T, 4n + 9), values_of(T, n), 2, 0))
case(stepped_by_argument!, (T, n) -> (values_of(T, 3), values_of(T, n), 0, 1); types = [Float64])

@tessella function stepped_through_columns!(B, y, ld::Int)
    first = 0
    for j in axes(B, 2)
        k = first
        for i in axes(B, 1)
            k += 1
            B[i, j] = y[k]
        end
        first += ld
    end
    return first
end
case(stepped_through_columns!, (T, n) -> (zeros(T, n, n + 1), values_of(T, (n + 2) * (n + 1)), n + 2))
case(stepped_through_columns!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n * (n + 1)), n))

@tessella function stepped_triangle!(y, A)
    n = size(A, 1)
    k = 0
    for j in 1:n
        for i in j:n
            k += 1
            y[k] = A[i, j]
        end
    end
    return k
end
case(stepped_triangle!, (T, n) -> (zeros(T, n * (n + 1) ÷ 2), values_of(T, n, n)))
case(stepped_triangle!, (T, n) -> (zeros(T, n * n ÷ 2), values_of(T, n, n)); types = [Float64])

@tessella function stepped_strict_triangle!(y, A)
    n = size(A, 1)
    k = 0
    for j in n:-1:1, i in 1:j-1
        k += 1
        y[k] = A[i, j]
    end
    return k
end
case(stepped_strict_triangle!, (T, n) -> (zeros(T, n * n), values_of(T, n, n)))

# Two of them, of which one steps the other.
@tessella function stepped_by_a_stepped!(y, x)
    k, s = 1, 1
    for i in eachindex(x)
        y[k] = x[i]
        k += s
        s += 2
    end
    return (k, s)
end
case(stepped_by_a_stepped!, (T, n) -> (zeros(T, n * n + 1), values_of(T, n)))

# Ranges with steps, that may be empty, before and behind others.
@tessella function stepped_in_strides!(y, a::Int, b::Int, c::Int)
    k = 0
    for i in a:3:b
        k += 1
        y[k] = i
    end
    for i in b:-2:a
        k += 1
        y[k] = -i
    end
    for j in 1:c, i in a:b
        k += 1
        y[k] = 10i + j
    end
    y[k+1] = k
    return k
end
case(stepped_in_strides!, (T, n) -> (zeros(T, 150), 2, n, 3))
case(stepped_in_strides!, (T, n) -> (zeros(T, 150), n, -3, n))
case(stepped_in_strides!, (T, n) -> (zeros(T, 150), -3, 7, n - 2))

# Where the number of iterations may be negative for some rows and not for others: it stays a variable there.
@tessella function stepped_in_trapezoid!(y, m::Int, n::Int)
    k = 0
    for j in 1:n
        for i in j:m
            k += 1
        end
        y[j] = k
    end
    return k
end
case(stepped_in_trapezoid!, (T, n) -> (zeros(T, n), 5, n))

@tessella function stepped_then_reset!(y, A)
    m, n = size(A)
    k = 7
    for j in 1:n
        y[1] += k
        k = j
        for i in 1:m
            y[k] += A[i, j]
            k += 1
        end
    end
    return k
end
case(stepped_then_reset!, (T, n) -> (zeros(T, 2n + 1), values_of(T, n, n)))
case(stepped_then_reset!, (T, n) -> (zeros(T, 9), values_of(T, 0, n)))
case(stepped_then_reset!, (T, n) -> (zeros(T, 9), values_of(T, n, 0)))

# A name of its own in each iteration, and one of the same name outside.
@tessella function stepped_shadows!(y, A)
    k = 100
    for j in axes(A, 2)
        let k = 0
            for i in axes(A, 1)
                k += 1
                y[k] += A[i, j]
            end
        end
        k += 1
    end
    return k
end
case(stepped_shadows!, (T, n) -> (values_of(T, n), values_of(T, n, n + 1)))

# From rows that an array names.
@tessella function stepped_from_read!(y, x, from)
    for j in 1:length(from)-1
        k = from[j]
        for i in 1:from[j+1]-from[j]
            y[k] = x[k] + i
            k += 1
        end
    end
end
case(stepped_from_read!, (T, n) -> (zeros(T, 3n), values_of(T, 3n), Int[3k + 1 for k in 0:n]))
case(stepped_from_read!, (T, n) -> (zeros(T, 3n), values_of(T, 3n), Int[3k for k in 0:n]); types = [Float64])

# A counter of what a loop over rows of read lengths does.
@tessella function stepped_over_rows!(y, x, from)
    k = 0
    for j in 1:length(from)-1
        for p in from[j]:from[j+1]-1
            k += 1
            y[p] = k
        end
    end
    return k
end
case(stepped_over_rows!, (T, n) -> (zeros(T, 3n), values_of(T, 3n), Int[3k + 1 for k in 0:n]))

# The value before the step, behind the loop, in a condition, as a bound, as a size, and as a number.
@tessella function stepped_elsewhere!(y, x)
    k = 0
    for i in eachindex(x)
        if k < 5
            y[i] = k
        end
        k += 1
        for l in k:length(x)
            y[l] += x[i] * k
        end
    end
    w = zeros(eltype(x), k)
    for i in 1:k
        w[i] = y[i]
    end
    return w
end
case(stepped_elsewhere!, (T, n) -> (values_of(T, n), values_of(T, n)))

# Data decide: the variable is read as it is.
@tessella function stepped_where!(y, x)
    k = 0
    n = 0
    for i in eachindex(x)
        n += 1
        if x[i] > 0
            k += 1
        end
        y[n] = k
    end
    return (k, n)
end
case(stepped_where!, (T, n) -> (zeros(T, n), values_of(T, n)))

@tessella function stepped_until!(y, x)
    k = 0
    for i in eachindex(x)
        x[i] > 0.8 && break
        k += 1
        y[i] = k
    end
    return k
end
case(stepped_until!, (T, n) -> (zeros(T, n), values_of(T, n)))

# Both branches do the same, and not.
@tessella function stepped_in_branches!(y, x)
    k = 1
    for i in eachindex(x)
        if x[i] > 0
            y[k] = x[i]
            k += 1
        else
            k += 1
            y[k-1] = 2 * x[i]
        end
    end
    return k
end
case(stepped_in_branches!, (T, n) -> (zeros(T, n), values_of(T, n)))

# The same step in many loops, and what is loaded for nothing.
@tessella function stepped_again!(y, x, p)
    k = p[2]
    k = 0
    for t in 1:3
        for i in eachindex(x)
            k += 1
            y[k] += x[i] / t
        end
        k = 0
    end
    return k
end
case(stepped_again!, (T, n) -> (zeros(T, n), values_of(T, n), [1, 2]))
case(stepped_again!, (T, n) -> (zeros(T, n), values_of(T, n), [1]))

# Twice the sum passes 64 bits, the sum does not.
@tessella function stepped_by_iterator_far!(y, n)
    s = 0
    for i in 1:n
        s += i
    end
    y[1] = s
    return nothing
end
# The interpreter takes every step.
case(stepped_by_iterator_far!, (T, n) -> ([0], 4_000_000_000 + n); types = DataType[Float64], targets = [:c])
case(stepped_by_iterator_far!, (T, n) -> ([0], n); types = DataType[Float64])
