# Loops over arrays and their indices.

@tessella function iterate_elements(A)
    s = zero(eltype(A))
    for x in A
        s = 2s + x
        s = s > 100 ? s / 128 : s
    end
    return s
end
case(iterate_elements, (T, n) -> (values_of(T, n, n),))

@tessella function iterate_enumerate!(B, A)
    for (i, x) in enumerate(A)
        B[i] = i * x
    end
end
case(iterate_enumerate!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function iterate_zip!(B, A)
    s = zero(eltype(A))
    for (x, y) in zip(A, B)
        s += x * y
    end
    for (k, j) in zip(1:length(B), 2:length(A))
        B[k] = A[j] + s
    end
end
case(iterate_zip!, (T, n) -> (values_of(T, n), values_of(T, n + 1)))

@tessella function iterate_cartesian!(B, A)
    for I in CartesianIndices(A)
        B[I] = A[I] * I[1] + I[2]
    end
end
case(iterate_cartesian!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function iterate_cartesian_part!(B)
    for I in CartesianIndices((2:size(B, 1)-1, 1:size(B, 2)))
        B[I] = I[1] - I[2]
    end
end
case(iterate_cartesian_part!, (T, n) -> (values_of(T, n, n),))

@tessella function iterate_linear!(B, A)
    for i in eachindex(A)
        B[i] = 2A[i]
    end
    for i in eachindex(A, B)
        B[i] += A[i]
    end
end
case(iterate_linear!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function iterate_column(A)
    s = zero(eltype(A))
    for x in view(A, :, 1)
        s += x
    end
    for x in A[1, :]
        s -= x
    end
    return s
end
case(iterate_column, (T, n) -> (values_of(T, n, n),))

@tessella function iterate_enumerate_zip(a, b)
    s = zero(eltype(a))
    for (i, (x, y)) in enumerate(zip(a, b))
        s += i * x * y
        i = 2
        s -= i * x
    end
    for (i, pair) in enumerate(zip(a, 2:5, b)), k in 1:i
        s += k * pair[1] - pair[2] * pair[3]
    end
    for pair in zip(b, a)
        s += pair[1] / 2 - pair[2]
    end
    return s
end
case(iterate_enumerate_zip, (T, n) -> (values_of(T, n), values_of(T, n)))
case(iterate_enumerate_zip, (T, n) -> (values_of(T, n + 3), values_of(T, n)))
