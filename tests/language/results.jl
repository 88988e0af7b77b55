# New arrays and tuples as results.

@tessella function result_zeros(A)
    m, n = size(A)
    C = zeros(eltype(A), n, m)
    for j in 1:m, i in 1:n
        C[i, j] = 2 * A[j, i]
    end
    return C
end
case(result_zeros, (T, n) -> (values_of(T, n, n + 1),))

@tessella result_broadcast(A, B) = A .+ 2 .* B
case(result_broadcast, (T, n) -> (values_of(T, n, 3), values_of(Float64, n, 3)))
# Sizes that do not agree.
@tessella result_sum(A, B) = A + B
case(result_sum, (T, n) -> (values_of(T, n), values_of(T, 3)))

@tessella function result_comprehension(A)
    [A[i] / i for i in 2:length(A)]
end
case(result_comprehension, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int32])

@tessella function result_promoted(A, n)
    x = [i * A[1] for i in 1:n]
    return x
end
case(result_promoted, (T, n) -> (values_of(T, 2), n); types = DataType[Float32, Float64, Int8, UInt16, Int64, Bool])

@tessella function result_similar(A)
    B = similar(A)
    B .= A .+ 1
    return B
end
case(result_similar, (T, n) -> (values_of(T, n, 2, 3),))

@tessella result_copy(A) = copy(A)
case(result_copy, (T, n) -> (values_of(T, n, 2),))

@tessella result_column(A, j) = A[:, j]
case(result_column, (T, n) -> (values_of(T, n, 3), 1 + n % 4))

# A negative size.
@tessella result_sized(n) = zeros(n - 2, 3)
case(result_sized, (T, n) -> (n,); types = DataType[Float64])

@tessella function result_fill(x, m, n)
    F = fill(x, m, n)
    F[1, 1] = 7
    return F
end
case(result_fill, (T, n) -> (T(2), n, n + 1))

@tessella function result_tuple(A)
    C = zeros(length(A))
    s = zero(eltype(A))
    for i in eachindex(A)
        s += A[i]
        C[i] = s
    end
    return C, s, length(A)
end
case(result_tuple, (T, n) -> (values_of(T, n),))

@tessella function result_mixed!(A, n)
    B = A .* n
    A .= 1
    return A, (B, nothing), n, true, B
end
case(result_mixed!, (T, n) -> (values_of(T, n, 2), n))

@tessella function result_scalars(A)
    lo, hi = typemax(Float64), typemin(Float64)
    for x in A
        lo = min(lo, x)
        hi = max(hi, x)
    end
    lo, hi
end
case(result_scalars, (T, n) -> (values_of(T, n),))

@tessella function result_keyword(A; scale = 2)
    return (A .* scale, scale)
end
case(result_keyword, (T, n) -> (values_of(T, n),))

@tessella function result_early(A, flag)
    C = zeros(length(A))
    flag && return C
    C .= A
    return C
end
case(result_early, (T, n) -> (values_of(T, n), isodd(n)))

result_helper(A) = [a > 0 for a in A]
@tessella function result_bools(A)
    B = result_helper(A)
    return B
end
case(result_bools, (T, n) -> (values_of(T, n),))

@tessella function result_declared(A)::Vector{Float64}
    B = Vector{Float64}(undef, length(A))
    for i in 1:length(A)
        B[i] = A[i]
    end
    B
end
case(result_declared, (T, n) -> (values_of(T, n),))

@tessella function result_half(A)
    n = length(A)
    h = zeros(eltype(A), n ÷ 2, n)
    for j in axes(h, 2), i in axes(h, 1)
        h[i, j] = A[2i]
    end
    return h
end
case(result_half, (T, n) -> (values_of(T, n),))

# Arguments that are numbers come back as they are.
@tessella function result_number!(x, k)
    x[1] = 3
    return k
end
case(result_number!, (T, n) -> (values_of(T, n), n))
case(result_number!, (T, n) -> (values_of(T, n), T(n) / 2))
case(result_number!, (T, n) -> (values_of(T, n), n > 2))
case(result_number!, (T, n) -> (values_of(T, n), Int8(n)))
case(result_number!, (T, n) -> (values_of(T, n), Complex(T(n), T(1))))

@tessella result_stored!(A, v) = A[end] = v
case(result_stored!, (T, n) -> (values_of(T, n), T(4)))

@tessella function result_default!(x, y, n = length(x))
    for i in 1:n
        y[i] = 2 * x[i]
    end
    n
end
case(result_default!, (T, n) -> (values_of(T, n), zeros(T, n)))
case(result_default!, (T, n) -> (values_of(T, n), zeros(T, n), n ÷ 2))

@tessella result_of_halves(z) = (z * z, real(z))
case(result_of_halves, (T, n) -> (Complex(T(n), T(2)),))

@tessella result_of_half(z) = imag(z)
case(result_of_half, (T, n) -> (Complex(T(n), T(2)),))

@tessella result_same(k) = k
case(result_same, (T, n) -> (T(n),))
