# Matrices by one subscript.

@tessella function linear_length!(B, A)
    for k in 1:length(A)
        B[k] = 2 * A[k] + k
    end
end
case(linear_length!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function linear_sum(A)
    s = zero(eltype(A))
    for k in 1:length(A)
        s += A[k] * A[k]
    end
    return s
end
case(linear_sum, (T, n) -> (values_of(T, n, 2, 3),))

@tessella function linear_eachindex!(A, limit)
    last = 0
    for k in eachindex(A)
        if A[k] > limit
            A[k] = limit
            last = k
        end
    end
    return last
end
case(linear_eachindex!, (T, n) -> (values_of(T, n, n), T(0.25)))

# Every second element, or third, from both ends.
@tessella function linear_steps!(A)
    for k in 2:2:length(A)
        A[k] = 2 * A[k]
    end
    for k in length(A):-3:1
        A[k] += k
    end
    return nothing
end
case(linear_steps!, (T, n) -> (values_of(T, n, n + 1),))

# Arrays of other sizes.
@tessella function linear_sizes!(B, A)
    for k in 1:length(A)
        B[k] = A[k]
    end
end
case(linear_sizes!, (T, n) -> (values_of(T, n, 3), values_of(T, n, 3)))

@tessella function linear_local(A)
    C = similar(A)
    for k in 1:length(C)
        C[k] = k
    end
    return C
end
case(linear_local, (T, n) -> (values_of(T, n, 2),))

# The number of an element beside other subscripts, and in an array of other axes.
@tessella function linear_beside!(B, v, A)
    for k in 1:length(A)
        B[k, 1] = A[k]
        B[k, 2] = 2 * A[k]
        v[k] = A[k] + k
    end
end
case(linear_beside!, (T, n) -> (values_of(T, 3n, 2), values_of(T, 3n), values_of(T, n, 3)))
