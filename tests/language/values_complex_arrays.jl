# Complex arrays as a whole: broadcasts, parts, reductions, comprehensions, and those made inside the function.

@tessella function complex_broadcast!(C, A, R)
    C .= 2 .* A .+ R .- conj.(A) .* im
    C .+= A ./ (R .+ 3)
    @. C = C * A + abs2(A) - R
    C[1:2:end] .= A[1:2:end] .^ 2
    return C
end
case(complex_broadcast!, (T, n) -> (zeros(T, n), complex_values(T, n), half_values(T, n)); types = COMPLEX)

# Elements of the target are read at other places: the values go through an array of their own.
@tessella function complex_shifted!(A)
    A[2:end] .= A[1:end-1] .* im
    A .= A[end:-1:1] .+ A
    return nothing
end
case(complex_shifted!, (T, n) -> (complex_values(T, n + 1),); types = COMPLEX)

@tessella function complex_real_parts!(R, A)
    R .= real.(A) .+ 2 .* imag.(A)
    R .+= abs2.(A .- 1)
    return R
end
case(complex_real_parts!, (T, n) -> (half_values(T, n), complex_values(T, n)); types = COMPLEX)

@tessella function complex_made_inside(A, z)
    n = length(A)
    B = zeros(eltype(A), n)
    C = similar(A)
    D = fill(z, n, 2)
    E = Vector{ComplexF64}(undef, n)
    F = ones(Complex{Float32}, n)
    for i in 1:n
        B[i] = A[n-i+1] * z
        C[i] = B[i] + D[i, 2]
    end
    E .= C .+ F .* im
    C .-= copy(E)
    B[:] .= C
    return B
end
case(complex_made_inside, (T, n) -> (complex_values(T, n), T(0.5, -1.5)); types = COMPLEX)

@tessella function complex_new(A, R)
    B = A .* R
    C = [A[i] / (A[i] + 2) for i in 1:length(A)]
    D = zero(A)
    D .= 1
    return B, C, D + 2A, -A
end
case(complex_new, (T, n) -> (complex_values(T, n), half_values(T, n)); types = COMPLEX)

@tessella complex_outer(A, B) = [a * conj(b) for a in A, b in B]
case(complex_outer, (T, n) -> (complex_values(T, n), complex_values(T, n + 1)); types = COMPLEX)

@tessella function complex_sums(A, R)
    s = sum(A)
    s += sum(abs2, A) + sum(conj(a) for a in A)
    s -= sum(A .* R)
    return s, sum(real, A), sum(A[1:2:end])
end
case(complex_sums, (T, n) -> (complex_values(T, n), half_values(T, n)); types = COMPLEX)

@tessella complex_product(A) = prod(A)
case(complex_product, (T, n) -> (complex_values(T, n),); types = COMPLEX)
case(complex_product, (T, n) -> (fill(T(-0.0, 1.0), min(n, 1)),); types = COMPLEX)

@tessella complex_inner(A, B) = dot(A, B)
case(complex_inner, (T, n) -> (complex_values(T, n), reverse(complex_values(T, n))); types = COMPLEX)

@tessella function complex_columns!(C, A)
    for j in axes(A, 2)
        x = A[:, j]
        v = view(A, :, size(A, 2) - j + 1)
        @views C[:, j] .= x .+ 2 .* v
        for (i, z) in enumerate(x)
            C[i, j] += i * z
        end
    end
    return nothing
end
case(complex_columns!, (T, n) -> (zeros(T, 3, n), reshape(complex_values(T, 3n), 3, n)); types = COMPLEX)

@tessella function complex_transposed!(C, A)
    C .= transpose(A) .+ C
    return nothing
end
case(complex_transposed!, (T, n) -> (reshape(complex_values(T, 3n), 3, n), reshape(complex_values(T, 3n), n, 3)); types = COMPLEX)

@tessella function complex_elements(A)
    total = zero(eltype(A))
    for z in A
        total += z * z
    end
    for (x, y) in zip(A, A)
        total -= x * conj(y)
    end
    return total
end
case(complex_elements, (T, n) -> (complex_values(T, n),); types = COMPLEX)

@tessella function complex_filled!(A, z)
    fill!(A, z)
    A[1] = 2
    return nothing
end
case(complex_filled!, (T, n) -> (complex_values(T, n + 1), T(1, 2)); types = COMPLEX)
case(complex_filled!, (T, n) -> (complex_values(T, n + 1), n); types = COMPLEX)

@tessella function complex_copied!(A, B)
    copyto!(A, B)
    old = A
    temporary = old .* 2
    A .= temporary
    return nothing
end
case(complex_copied!, (T, n) -> (complex_values(T, n + 2), reverse(complex_values(T, n))); types = COMPLEX)

scaled_by(A, z) = A .* z

@tessella function complex_passed!(C, A, z)
    C .= scaled_by(A .+ 1, z)
    return nothing
end
case(complex_passed!, (T, n) -> (zeros(T, n), complex_values(T, n), T(0.5, 2)); types = COMPLEX)

# A new array of its own length.
@tessella function complex_convolution(A, B)
    C = zeros(eltype(A), length(A) + length(B) - 1)
    for j in 1:length(B), i in 1:length(A)
        C[i+j-1] += A[i] * B[j]
    end
    return C
end
case(complex_convolution, (T, n) -> (complex_values(T, n + 1), complex_values(T, n + 1)); types = COMPLEX)

@tessella function complex_adjoint!(C, A)
    C .= A' .+ 2 .* transpose(A)
    s = sum(A')
    B = A'
    for j in axes(A, 1), i in axes(A, 2)
        C[i, j] += B[i, j] * s + A[j, i]'
    end
    return s
end

case(complex_adjoint!, (T, n) -> (zeros(Complex{T}, n, n), complex.(values_of(T, n, n), 1 .+ values_of(T, n, n))))

@tessella function complex_adjoint_later!(A)
    B = A'
    A[1, 1] = 3im
    return B[1, 1]
end

case(complex_adjoint_later!, (T, n) -> (complex.(values_of(T, n, n), 1 .+ values_of(T, n, n)),))

@tessella function complex_literals(x)
    u = [1.0 + 2im, 3im]
    v = Complex{Float64}[1, 2im, x]
    return u, v, [x x*im; 1 2]
end

case(complex_literals, (T, n) -> (T(n) / 4,))

# The exponential of what has no last places: zeros, and values that are not finite.
const EDGES = [0.0, -0.0, Inf, -Inf, NaN]

@tessella function complex_exponentials!(Z)
    for i in eachindex(Z)
        Z[i] = exp(Z[i])
    end
end

case(complex_exponentials!, (T, n) -> (n > 3 ? Complex{T}[complex(a, b) for a in EDGES for b in EDGES] : zeros(Complex{T}, n),); types = [Float64])

@tessella function complex_angles!(x, Z)
    for i in eachindex(Z)
        x[i] = angle(Z[i]) + angle(x[i])
    end
end

case(complex_angles!, (T, n) -> (T[k % 3 - 1 for k in 1:n], Complex{T}[complex(k % 2 == 0 ? 0 : 1, k % 3 - 1) * (k % 2) for k in 1:n]))
