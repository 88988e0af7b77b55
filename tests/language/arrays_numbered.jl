# One subscript for an array with several axes: the number of the element.

@tessella function number_as_in_c!(out, u)
    nx, ny = size(u)
    for j in 2:ny-1, i in 2:nx-1
        k = i + (j - 1) * nx
        out[i, j] = u[k-1] + u[k+1] + u[k-nx] + u[k+nx] - 4u[k]
    end
end
case(number_as_in_c!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function number_stored!(u)
    nx, ny = size(u)
    for j in 1:ny, i in 1:nx
        u[i+nx*(j-1)] += i
        u[(j-1)*nx+i] *= 2
    end
    u[1] += 1
    u[end] -= 1
    return u[length(u)]
end
case(number_stored!, (T, n) -> (values_of(T, n, n + 2),))

@tessella function number_of_other_sizes!(out, u)
    nx, ny = size(u)
    for j in 2:ny-1, i in 2:nx-1
        k = i + (j - 1) * nx
        out[k] = u[k-1] + u[k+1]
    end
end
case(number_of_other_sizes!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))
case(number_of_other_sizes!, (T, n) -> (zeros(T, n + 1, n), values_of(T, n, n + 1)))

@tessella function number_outside!(u)
    nx, ny = size(u)
    for j in 1:ny, i in 1:nx
        u[i+j*nx] = 0
    end
end
case(number_outside!, (T, n) -> (values_of(T, n, n),))

@tessella function number_mirrored!(B, A)
    for k in eachindex(A)
        B[k] = A[k] + A[length(A)-k+1]
    end
end
case(number_mirrored!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))

@tessella function number_of_next!(B, A)
    for k in 1:length(A)
        k < length(A) && (B[k] = A[k+1])
    end
end
case(number_of_next!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)))

@tessella function number_in_three!(A, s)
    m, n, p = size(A)
    for l in 1:p, j in 1:n, i in 1:m
        A[i+m*(j-1)+m*n*(l-1)] += A[i, j, l]
    end
    return A[s]
end
case(number_in_three!, (T, n) -> (values_of(T, 2, n, 3), n))
case(number_in_three!, (T, n) -> (values_of(T, 2, n, 3), 6n + 1))
case(number_in_three!, (T, n) -> (values_of(T, 2, n, 3), 0))

@tessella function number_of_diagonal(A)
    n = size(A, 1)
    t = zero(eltype(A))
    for i in 1:n
        t += A[(i-1)*n+i]
        t -= A[(i-1)*n+(n-i+1)]
    end
    return t
end
case(number_of_diagonal, (T, n) -> (values_of(T, n, n),))
case(number_of_diagonal, (T, n) -> (values_of(T, n, n + 1),))
case(number_of_diagonal, (T, n) -> (values_of(T, n + 1, n),))

@tessella function number_gathered!(x, A, idx::Vector{Int})
    B = 2 .* A
    for i in eachindex(idx)
        x[i] = A[idx[i]] + B[idx[i]]
    end
end
case(number_gathered!, (T, n) -> (zeros(T, n), values_of(T, 3, n), Int[1 + 5k % 3n for k in 1:n]))
case(number_gathered!, (T, n) -> (zeros(T, n), values_of(T, 3, n), Int[3k + 1 for k in 1:n]))

@tessella function number_of_complex!(Z)
    n = size(Z, 1)
    for j in 1:n, i in 1:n
        Z[i+n*(j-1)] = conj(Z[j, i]) + Z[1]
    end
end
case(number_of_complex!, (T, n) -> (complex.(values_of(T, n, n), 1 .+ values_of(T, n, n)),))
