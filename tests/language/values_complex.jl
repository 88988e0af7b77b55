# Complex numbers: arrays, scalars, results; arithmetic with each other and with real numbers.

complex_values(::Type{Complex{T}}, n) where {T} = complex.(values_of(T, n), values_of(T, n + 1)[2:end])

@tessella function complex_arithmetic!(C::Vector{Complex{T}}, A, B) where {T}
    for i in eachindex(C, A)
        C[i] = A[i] * B[i] + conj(A[i]) - B[i]
        C[i] += A[i] * C[i]
        C[i] = -C[i] * B[i]
    end
    return nothing
end

@tessella function complex_with_real!(C, A, R)
    for i in 1:length(A)
        x = R[i]
        C[i] = x * A[i] + A[i] * x + (x - A[i]) - (A[i] - x) + (x + A[i]) + A[i] / (x + 3) + 2A[i] - 1
        C[i] -= (3 - A[i]) * i + π * A[i] + true * A[i]
    end
    return nothing
end

@tessella function complex_units!(C, A, R)
    for i in 1:length(A)
        C[i] = R[i] + 2im + im * A[i] - A[i] * im + 1.5f0im * R[i] + (R[i] - im) - (im - R[i]) + im^2
    end
    return nothing
end

@tessella function complex_parts!(R, A)
    for i in eachindex(R)
        z = A[i]
        a, b = reim(z)
        R[i] = real(z) + 2imag(z) + abs2(z) + a * b + real(R[i]) + imag(R[i]) + conj(R[i])
        R[i] += (z == A[1]) + 2(z != 1) + 4iszero(z) + 8isreal(z) + 16(isnan(z) | isinf(z)) + 32isfinite(z)
    end
    return nothing
end

@tessella function complex_powers!(C, A)
    for i in 1:length(A)
        C[i] = A[i]^2 + A[i]^3 - A[i]^1 + A[i]^0 + (A[i] + 1)^2
    end
    return nothing
end

@tessella function complex_made!(C, A, R)
    T = eltype(C)
    for i in 1:length(A)
        C[i] = complex(R[i], 2) + Complex(R[i]) + T(3) + T(1, R[i]) + zero(T) + one(A[i]) + ComplexF32(A[i])
        C[i] += Complex{Float32}(1, 2) + zero(A[i]) + convert_by_call(A[i], R[i])
    end
    return nothing
end

convert_by_call(z::Complex, x::Real) = complex(real(z) * x, x)

@tessella function complex_fused!(C, A, B, R)
    for i in 1:length(A)
        C[i] = muladd(A[i], B[i], C[i]) + muladd(R[i], A[i], B[i]) + muladd(A[i], R[i], R[i])
        C[i] += muladd(R[i], R[i], A[i]) + muladd(A[i], B[i], R[i])
    end
    return nothing
end

@tessella function complex_dot(A, B)
    s = zero(eltype(A))
    for i in 1:length(A)
        s += conj(A[i]) * B[i]
    end
    return s
end

@tessella function complex_axpy!(Y, a, X)
    for i in eachindex(Y)
        Y[i] += a * X[i]
    end
    return Y
end

@tessella function complex_argument(z, x)
    z *= x
    w = x > 0 ? z + 1 : z * im
    return w
end

@tessella function complex_iteration!(R, C, limit)
    for i in eachindex(R)
        z = zero(C[i])
        count = 0
        for k in 1:limit
            z = abs2(z) <= 4 ? z * z + C[i] : z
            if abs2(z) <= 4
                count += 1
                w = z * im
            else
                w = conj(z)
            end
            z = w
        end
        R[i] = count + real(z)
    end
    return nothing
end

@tessella function complex_matrix!(C::Matrix{<:Complex}, A, B)
    m, n = size(C)
    for j in axes(C, 2), i in axes(C, 1)
        C[i, j] = 0
        for k in 1:size(A, 2)
            C[i, j] += A[i, k] * B[k, end - j + 1]
        end
    end
    return C
end

@tessella function complex_stencil!(A)
    for i in 2:length(A)-1
        A[i] = (A[i-1] + A[i+1]) * A[i] / 2
    end
    return A[1], length(A), A
end

@tessella function complex_outside!(A)
    for i in 1:length(A)
        A[i] = A[i+1] * im
    end
    return nothing
end

@tessella function complex_swapped!(A)
    for i in 1:length(A)÷2
        A[i], A[end-i+1] = A[end-i+1], A[i]
    end
    return nothing
end

const COMPLEX = (ComplexF32, ComplexF64)
half_values(::Type{Complex{T}}, n) where {T} = values_of(T, n)
one_complex(T, n) = (complex_values(T, n),)
with_two(T, n) = (complex_values(T, n), reverse(complex_values(T, n)), complex_values(T, n) .* 2im)
with_real(T, n) = (complex_values(T, n), reverse(complex_values(T, n)), half_values(T, n))
case(complex_arithmetic!, with_two; types = COMPLEX)
case(complex_with_real!, with_real; types = COMPLEX)
case(complex_units!, with_real; types = COMPLEX)
case(complex_made!, with_real; types = COMPLEX)
case(complex_parts!, (T, n) -> (half_values(T, n), complex_values(T, n)); types = COMPLEX)
case(complex_powers!, (T, n) -> (complex_values(T, n), reverse(complex_values(T, n))); types = COMPLEX)
case(complex_fused!, (T, n) -> (with_two(T, n)..., half_values(T, n)); types = COMPLEX)
case(complex_dot, (T, n) -> (complex_values(T, n), complex_values(T, n) .* 2im); types = COMPLEX)
case(complex_axpy!, (T, n) -> (complex_values(T, n), T(0.5, -2), complex_values(T, n) .* 2im); types = COMPLEX)
case(complex_iteration!, (T, n) -> (half_values(T, n), complex_values(T, n), n); types = COMPLEX)
case(complex_matrix!, (T, n) -> (zeros(T, n, n), reshape(complex_values(T, n * n), n, n),
                                 reshape(reverse(complex_values(T, n * n)), n, n)); types = COMPLEX)
case(complex_stencil!, (T, n) -> (complex_values(T, n + 1),); types = COMPLEX)
case(complex_outside!, one_complex; types = COMPLEX)
case(complex_swapped!, one_complex; types = COMPLEX)
case(complex_argument, (T, n) -> (T(n, -0.0), real(T)(n - 1)); types = COMPLEX)

@tessella function complex_places!(C)
    for I in CartesianIndices(C)
        C[I] = C[I] * 2
    end
    for k in 1:length(C)
        C[k] += im
    end
    return C
end

case(complex_places!, (T, n) -> (reshape(complex_values(T, 3n), 3, n),); types = COMPLEX)

@tessella function complex_quotients!(C, A, B, R)
    for i in 1:length(A)
        C[i] = A[i] / B[i] + inv(A[i]) - R[i] / B[i] + B[i] \ A[i]
        C[i] += 2 / (A[i] + 3im) - A[i] / 2im
        C[i] /= B[i] + 1
    end
    return nothing
end

@tessella function complex_integer_quotients!(C, p, q)
    for i in 1:length(C)
        z, w = complex(p[i], q[i]), complex(q[i] - 2, p[i] + 1)
        C[i] = z / w + inv(w) + 3 / z + w / z
    end
    return nothing
end

# Halves of all sizes: those that Julia scales before it divides, zeros, infinities, NaNs.
const EXTREMES = [0.0, -0.0, 1.0, -2.5, 1e-310, -5e-324, 3e-300, 1e300, -1.7e308, 1e154, 1e-160, Inf, -Inf, NaN]

@tessella function complex_extreme_quotients!(Q, V, X)
    for m in eachindex(X), l in eachindex(X), k in eachindex(X), j in eachindex(X)
        Q[j, k, l, m] = complex(X[j], X[k]) / complex(X[l], X[m])
        V[l, m] = inv(complex(X[l], X[m]))
    end
    return nothing
end

case(complex_quotients!, (T, n) -> (with_two(T, n)[1:2]..., complex_values(T, n) .+ T(1, 2), half_values(T, n)); types = COMPLEX)
case(complex_integer_quotients!, (T, n) -> (zeros(ComplexF64, n), values_of(T, n), reverse(values_of(T, n)));
     types = [Int64, Int32, UInt8])
case(complex_extreme_quotients!,
     (T, n) -> (zeros(T, fill(min(n, 14), 4)...), zeros(T, min(n, 14), min(n, 14)), real(T).(EXTREMES[1:min(n, 14)])); types = COMPLEX)
