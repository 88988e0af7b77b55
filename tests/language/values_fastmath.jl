# `@fastmath`, `@simd`, `@inbounds` and `muladd` allow what they say, and nothing else. The numbers here are such that
# every order of the additions gives the same sum.

@tessella function fastmath_of_a_part!(B, A)
    for i in 1:length(A)
        B[i] = A[i] + @fastmath(A[i] * 2 + 1)
    end
    return nothing
end

@tessella function simd_sum(A)
    s = zero(eltype(A))
    @inbounds @simd for i in 1:length(A)
        s += A[i]
    end
    return s
end

@tessella function inbounds_of_a_block!(B, A)
    @inbounds begin
        for i in 1:length(A)
            B[i] = A[i]
        end
        if length(A) > 1
            B[1] = 2
        end
    end
    return nothing
end

@tessella function outside_without_inbounds!(B, A)
    for i in 1:length(A)
        B[i+1] = A[i]
    end
    return nothing
end

# Where subscripts are data, too: integers tell which, and floats that are checked are computed as they stand.
@tessella function scattered_fast!(h, k::Vector{Int}, w)
    @fastmath for p in eachindex(k)
        h[k[p]] += w[p]
        h[k[p]] -= 2
    end
end

@tessella function gathered_fast!(y, first::Vector{Int}, k::Vector{Int}, w)
    @fastmath for i in eachindex(y)
        for p in first[i]:first[i+1]-1
            y[i] += w[k[p]]
        end
    end
end

@tessella function binned_fast!(h, w)
    @fastmath for p in eachindex(w)
        bin = 1 + Int(floor(abs(w[p]) / 2))
        h[min(bin, length(h))] += w[p]
    end
end

# The place of what is moved is a sum of rounded products: fused, it would be another one.
@tessella function moved_beside_fast!(y, w, z, x, a, b, c)
    @fastmath for p in eachindex(y)
        y[p] += w[p] * 2
    end
    for p in eachindex(z)
        z[p] = x[ifelse(a[p] * b[p] + c[p] > 0, 2, 1)]
    end
end

function moved_inputs(::Type{T}, n) where {T}
    e = T(2)^(T == Float64 ? -30 : -13)
    return zeros(T, n), values_of(T, n), zeros(T, n), T[10, 20], fill(1 + e, n), fill(1 + e, n), fill(-(1 + 2e), n)
end

exact(T, n) = (zeros(T, n), values_of(T, n))
case(moved_beside_fast!, moved_inputs)
case(scattered_fast!, (T, n) -> (zeros(T, n ÷ 3 + 1), [mod(7p, n ÷ 3 + 1) + 1 for p in 1:n], values_of(T, n)))
case(scattered_fast!, (T, n) -> (zeros(T, n ÷ 3), [mod(7p, n ÷ 3 + 1) + 1 for p in 1:n], values_of(T, n)))
case(gathered_fast!, (T, n) -> (zeros(T, n), [1 + 3i for i in 0:n], [mod(5p, n) + 1 for p in 1:3n], values_of(T, n)))
case(binned_fast!, (T, n) -> (zeros(T, 5), values_of(T, n)))
for f in (fastmath_of_a_part!, inbounds_of_a_block!, outside_without_inbounds!)
    case(f, exact)
end
case(simd_sum, (T, n) -> (values_of(T, n),))

# Julia fuses `muladd` where the machine can; the products here are inexact, so that this shows.
rough(::Type{T}, n) where {T} = T[sin(T(3k)) / 7 for k in 1:n]

@tessella function fused_inexactly!(A, B)
    for i in eachindex(A)
        A[i] = muladd(A[i], B[i], -A[i] * B[i]) + muladd(B[i], 0.1f0, 2)
    end
end

case(fused_inexactly!, (T, n) -> (rough(T, n), rough(T, n)))

@tessella function polynomials_inexactly!(A, B)
    for i in eachindex(A)
        A[i] = @evalpoly(B[i], 0.1, 0.2, 0.3f0, 5)
        B[i] = evalpoly(B[i], (0.1f0, 2, B[i], 0.3f0, -1)) + evalpoly(B[i], (0.3f0,)) + @evalpoly(A[i], 1, 2 < 3)
    end
end

case(polynomials_inexactly!, (T, n) -> (rough(T, n), rough(T, n)))

const SERIES = (0.1f0, 1 / 3, 2, -0.7)

@tessella function polynomial_of_integers!(A, k::Vector{Int})
    for i in eachindex(k)
        A[i] = evalpoly(k[i], (1, 2, 3)) + evalpoly(k[i], SERIES) + @evalpoly(A[i], 0.7f0, k[i], 0.1f0)
    end
end

case(polynomial_of_integers!, (T, n) -> (rough(T, n), collect(1:n)))

@tessella function polynomial_of_complex!(Z)
    for i in eachindex(Z)
        Z[i] = muladd(Z[i], Z[i], 0.1)
    end
    for i in eachindex(Z)
        Z[i] = muladd(Z[i], 0.3, Z[i])
    end
end

case(polynomial_of_complex!, (T, n) -> (complex.(rough(T, n), rough(T, n) ./ 3),))
