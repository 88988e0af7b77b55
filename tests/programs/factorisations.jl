"""
Dense linear algebra: LU with and without pivots, Cholesky, QR by Householder and by Givens, triangular solves, power iteration.
"""
module Factorisations

using Tessella
using LinearAlgebra: I
using ..Programs: program, values_of, positive_of

@tessella function lu!(A)
    n = size(A, 1)
    size(A, 2) == n || throw(DimensionMismatch("matrix is not square: $(size(A))"))
    for k in 1:n-1
        for i in k+1:n
            A[i, k] /= A[k, k]
        end
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
    return A
end

"By views of columns."
@tessella function lu_plain!(A)
    m, n = size(A)
    @assert m == n "the matrix is not square"
    for k in 1:n
        @views A[k+1:n, k] ./= A[k, k]
        for j in k+1:n
            @views A[k+1:n, j] .-= A[k, j] .* A[k+1:n, k]
        end
    end
    A
end

@tessella function pivot_column!(A, perm, k::Int)
    n = size(A, 1)
    p = k
    largest = abs(A[k, k])
    for i in k+1:n
        if abs(A[i, k]) > largest
            largest = abs(A[i, k])
            p = i
        end
    end
    perm[k] = p
    return p
end

@tessella function swap_rows!(A, r, s)
    r == s && return nothing
    for j in axes(A, 2)
        A[r, j], A[s, j] = A[s, j], A[r, j]
    end
    return nothing
end

@tessella function cholesky!(L, A)
    n = size(A, 1)
    for j in 1:n
        s = A[j, j]
        for k in 1:j-1
            s -= L[j, k]^2
        end
        L[j, j] = sqrt(abs(s))
        for i in j+1:n
            t = A[i, j]
            for k in 1:j-1
                t -= L[i, k] * L[j, k]
            end
            L[i, j] = t / L[j, j]
        end
        for i in 1:j-1
            L[i, j] = 0
        end
    end
    return L
end

"Householder: `A` becomes R, with the vectors below the diagonal, `τ` the factors."
@tessella function householder!(A, τ)
    m, n = size(A)
    for k in 1:n
        α = zero(eltype(A))
        for i in k:m
            α += A[i, k]^2
        end
        α = A[k, k] > 0 ? -sqrt(α) : sqrt(α)
        v1 = A[k, k] - α
        τ[k] = -v1 / α
        for i in k+1:m
            A[i, k] /= v1
        end
        A[k, k] = α
        for j in k+1:n
            s = A[k, j]
            for i in k+1:m
                s += A[i, k] * A[i, j]
            end
            s *= τ[k]
            A[k, j] -= s
            for i in k+1:m
                A[i, j] -= s * A[i, k]
            end
        end
    end
    return A, τ
end

"Rotation (c, s) that turns (a, b) into (r, 0)."
function givens(a, b)
    if b == 0
        return one(a), zero(a)
    end
    r = sqrt(a^2 + b^2)
    return a / r, b / r
end

@tessella function givens_qr!(R, Q)
    m, n = size(R)
    for j in 1:n
        for i in m:-1:j+1
            c, s = givens(R[i-1, j], R[i, j])
            for k in 1:n
                t = c * R[i-1, k] + s * R[i, k]
                R[i, k] = -s * R[i-1, k] + c * R[i, k]
                R[i-1, k] = t
            end
            for k in 1:m
                t = c * Q[k, i-1] + s * Q[k, i]
                Q[k, i] = -s * Q[k, i-1] + c * Q[k, i]
                Q[k, i-1] = t
            end
        end
    end
end

function forward!(y, L, b)
    for i in eachindex(b)
        acc = b[i]
        for j in 1:i-1
            acc -= L[i, j] * y[j]
        end
        y[i] = acc / L[i, i]
    end
    return y
end

function backward!(x, U, y)
    n = length(y)
    for i in n:-1:1
        acc = y[i]
        for j in i+1:n
            acc -= U[i, j] * x[j]
        end
        x[i] = acc / U[i, i]
    end
    return x
end

@tessella function triangular_solves!(x, y, L, U, b)
    forward!(y, L, b)
    backward!(x, U, y)
    return nothing
end

"Gram-Schmidt, modified, with views of columns."
@tessella function gram_schmidt!(Q, R)
    n = size(Q, 2)
    for j in 1:n
        q = view(Q, :, j)
        for k in 1:j-1
            p = view(Q, :, k)
            R[k, j] = sum(p[i] * q[i] for i in eachindex(q))
            q .-= R[k, j] .* p
        end
        R[j, j] = sqrt(sum(x^2 for x in q))
        q ./= R[j, j]
    end
    return Q, R
end

@tessella function power_iteration!(v, A, iterations)
    w = similar(v)
    λ = zero(eltype(v))
    for _ in 1:iterations
        for i in 1:size(A, 1)
            acc = zero(eltype(A))
            for j in 1:size(A, 2)
                acc += A[i, j] * v[j]
            end
            w[i] = acc
        end
        norm2 = zero(eltype(v))
        for x in w
            norm2 += x * x
        end
        λ = sqrt(norm2)
        @. v = w / λ
    end
    return λ
end

"Blocked product, with tiles of `nb`."
@tessella function matmul_blocked!(C, A, B; nb = 4)
    M, K = size(A)
    N = size(B, 2)
    C .= zero(eltype(C))
    for jj in 1:4:N, kk in 1:4:K, ii in 1:4:M
        for j in jj:min(jj + 3, N), k in kk:min(kk + 3, K)
            b = B[k, j]
            @simd for i in ii:min(ii + 3, M)
                C[i, j] += A[i, k] * b
            end
        end
    end
    return C
end

"Determinant from the factors, trace, and the norms of one, infinity and Frobenius."
@tessella function matrix_numbers(A)
    n = size(A, 1)
    d = one(eltype(A))
    tr = zero(eltype(A))
    for i in 1:n
        d *= A[i, i]
        tr += A[i, i]
    end
    one_norm = zero(eltype(A))
    for j in axes(A, 2)
        column = zero(eltype(A))
        for i in axes(A, 1)
            column += abs(A[i, j])
        end
        one_norm = max(one_norm, column)
    end
    frobenius = sqrt(sum(abs2(a) for a in A))
    return d, tr, one_norm, frobenius
end

@tessella function kronecker!(C, A, B)
    ma, na = size(A)
    mb, nb = size(B)
    size(C) == (ma * mb, na * nb) || error("the result has the wrong size")
    for ja in 1:na, ia in 1:ma, jb in 1:nb, ib in 1:mb
        C[(ia-1)*mb+ib, (ja-1)*nb+jb] = A[ia, ja] * B[ib, jb]
    end
    return C
end

dominant(T, n) = values_of(T, n, n) + T(8) * Matrix{T}(I, n, n)
symmetric(T, n) = (A = values_of(T, n, n); A + A' + T(4n + 4) * Matrix{T}(I, n, n))

program(lu!, (T, n) -> (dominant(T, n),))
program(lu_plain!, (T, n) -> (dominant(T, n),))
program(pivot_column!, (T, n) -> (values_of(T, n, n), zeros(Int, n), 1))
program(swap_rows!, (T, n) -> (values_of(T, n, n), 1, n))
program(cholesky!, (T, n) -> (values_of(T, n, n), symmetric(T, n)); types = [Float32, Float64])
program(householder!, (T, n) -> (values_of(T, n + 3, n), zeros(T, n)))
program(givens_qr!, (T, n) -> (values_of(T, n + 1, n), Matrix{T}(I, n + 1, n + 1)))
program(triangular_solves!, (T, n) -> (zeros(T, n), zeros(T, n), dominant(T, n), dominant(T, n), values_of(T, n)))
program(gram_schmidt!, (T, n) -> (values_of(T, n + 2, n), zeros(T, n, n)))
program(power_iteration!, (T, n) -> (positive_of(T, n), symmetric(T, n), 3))
program(matmul_blocked!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 2), values_of(T, n + 2, n + 1)); slow = true)
program(matrix_numbers, (T, n) -> (values_of(T, n, n),); slow = true)
program(kronecker!, (T, n) -> (zeros(T, 2n, 3n + 3), values_of(T, n, n + 1), values_of(T, 2, 3)))

end
