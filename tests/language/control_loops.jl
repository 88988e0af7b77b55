# Ranges of loops, and what stands around them.

@tessella function loops_triangular!(A)
    n = size(A, 1)
    for j in 1:n, i in j:n
        A[i, j] = A[j, j] + i
    end
    for i in n:-1:2
        for j in i-1:-2:1
            A[j, i] += A[i, j] * 0.5
        end
    end
    return A
end
case(loops_triangular!, (T, n) -> (values_of(T, n, n),))

@tessella function loops_empty_and_strided!(y, x, low::Int, high::Int)
    for i in low:high
        y[i] = x[i]
    end
    for i in high:low
        y[i] = 2 * x[i]
    end
    for i in 1:3:length(x), k in i:-2:i-1
        y[i] += k
    end
    return nothing
end
for (low, high) in ((1, 0), (1, 1), (2, 3))
    case(loops_empty_and_strided!, (T, n) -> (values_of(T, n + 3), values_of(T, n + 3), low, high))
end

# Six axes, all of them iterated and one broadcast.
@tessella function loops_of_six_axes!(B::Array{T,6}, A::Array{T,6}) where {T<:Real}
    for f in axes(A, 6), e in axes(A, 5), d in axes(A, 4), c in axes(A, 3), b in axes(A, 2), a in axes(A, 1)
        B[a, b, c, d, e, f] = A[a, end - b + 1, c, d, e, f] + a * f
    end
    B .+= 2 .* A
    return nothing
end
case(loops_of_six_axes!, (T, n) -> (zeros(T, min(n, 3), 2, 1, 2, 1, 2), values_of(T, min(n, 3), 2, 1, 2, 1, 2)))

"The documented sum of what `part_of` makes of each element."
@tessella function loops_documented(A)
    s = zero(eltype(A))
    for x in A
        s += part_of(x) + part_of(x, 2)
    end
    return s
end
part_of(x) = x / 2
part_of(x::Float32) = x / 4
part_of(x, n::Int) = x / n
part_of(x, n) = x
case(loops_documented, (T, n) -> (values_of(T, n),))

# `Float32` arrays with `Float64` literals: computed in `Float64`, rounded where they are stored.
@tessella function loops_of_mixed_precision!(B, A)
    for i in 2:length(A)-1
        t = 0.1 * A[i-1] + 0.7f0 * A[i]
        B[i] = t + A[i+1] / 3.0
        B[i] *= 1.1
    end
    for i in eachindex(B)
        B[i] = muladd(0.5, B[i], 0.25) - floor(B[i]) + trunc(Int, 8A[i]) + round(A[i] * 0.3) - ceil(A[i] - 0.01)
    end
    return nothing
end
case(loops_of_mixed_precision!, (T, n) -> (values_of(T, n), values_of(T, n)))

# The trip count is a constant of the source: even, odd.
@tessella function loops_swapping_twice!(A, B)
    for t in 1:4
        for i in 2:length(A)-1
            B[i] = (A[i-1] + A[i+1]) * 0.5
        end
        A, B = B, A
    end
    A[1] = 7
    return A
end
@tessella function loops_swapping_thrice!(A, B)
    for t in 1:3
        for i in 2:length(A)-1
            B[i] = (A[i-1] + A[i+1]) * 0.5
        end
        old = A
        A = B
        B = old
    end
    A[1] = 7
    return B
end
for f in (loops_swapping_twice!, loops_swapping_thrice!)
    case(f, (T, n) -> (values_of(T, n + 1), 2 .* values_of(T, n + 1)))
end

# Each iteration of loops in one `for` has the iterators anew, whatever the body makes of them.
@tessella function loops_changing_iterators!(y, x)
    n = length(x)
    for k in 1:n, p in 1:2
        k += p
        y[p] += k <= n ? x[k] : eltype(x)(p)
    end
    for k in (1, 2), p in 1:3
        k += 1
        y[2] += k * p
    end
    for t in 1:2, i in 1:n
        for k in 1:2, p in -1:1
            k += 1
            p += 1
            y[1] += (k + p) * x[i]
        end
    end
    return nothing
end
case(loops_changing_iterators!, (T, n) -> (values_of(T, 3), values_of(T, n)))
