# Matrices that programs keep in vectors: subscripts that count through rows, which a size multiplies.

in_vector(T, sizes...) = vec(values_of(T, sizes...))

@tessella function vectors_scaled!(y, x, n, m)
    for j in 0:m-1, i in 0:n-1
        y[j*n+i+1] = 2 * x[j*n+i+1]
    end
end

case(vectors_scaled!, (T, n) -> (in_vector(T, n, n + 2), in_vector(T, n, n + 2), n, n + 2))

# Rows before columns: neighbours in memory lie along the outer loop.
@tessella function vectors_by_rows!(y, x, n, m)
    for i in 1:n, j in 1:m
        y[(j-1)*n+i] = x[(j-1)*n+i] + i - j
    end
end

case(vectors_by_rows!, (T, n) -> (in_vector(T, 3, n), in_vector(T, 3, n), 3, n))

@tessella function vectors_counted!(y, A)
    k = 1
    for j in axes(A, 2), i in axes(A, 1)
        y[k] = 3 * A[i, j]
        k += 1
    end
end

case(vectors_counted!, (T, n) -> (in_vector(T, n, 5), values_of(T, n, 5)))

@tessella function vectors_heated!(u, v, nx, ny, steps)
    for t in 1:steps
        for j in 2:ny-1, i in 2:nx-1
            k = (j - 1) * nx + i
            v[k] = (u[k-1] + u[k+1] + u[k-nx] + u[k+nx]) / 4
        end
        for j in 2:ny-1, i in 2:nx-1
            k = (j - 1) * nx + i
            u[k] = v[k]
        end
    end
end

case(vectors_heated!, (T, n) -> (in_vector(T, n, 19), in_vector(T, n, 19), n, 19, 4))

@tessella function vectors_swapped!(u, v, nx, ny, nz, steps)
    for t in 1:steps
        for k in 2:nz-1, j in 2:ny-1, i in 2:nx-1
            c = ((k - 1) * ny + (j - 1)) * nx + i
            v[c] = u[c] + (u[c-1] + u[c+1] + u[c-nx] + u[c+nx] + u[c-nx*ny] + u[c+nx*ny] - 6 * u[c]) / 8
        end
        u, v = v, u
    end
    u
end

case(vectors_swapped!, (T, n) -> (in_vector(T, n, 6, 5), in_vector(T, n, 6, 5), n, 6, 5, 3))

# Cells around the edge, which copy what lies inside.
@tessella function vectors_with_ghosts!(u, n, m)
    for j in 1:m, i in 1:n
        u[j*(n+2)+i+1] = u[j*(n+2)+i+1] / 2
    end
    for j in 0:m+1
        u[j*(n+2)+1] = u[j*(n+2)+2]
        u[j*(n+2)+n+2] = u[j*(n+2)+n+1]
    end
    for i in 1:n+2
        u[i] = u[n+2+i]
        u[(m+1)*(n+2)+i] = u[m*(n+2)+i]
    end
end

case(vectors_with_ghosts!, (T, n) -> (in_vector(T, n + 2, 9), n, 7))

@tessella function vectors_multiplied!(C, A, B, n, m, p)
    for i in 0:n-1
        for j in 0:p-1
            s = zero(eltype(C))
            for k in 0:m-1
                s += A[i*m+k+1] * B[k*p+j+1]
            end
            C[i*p+j+1] = s
        end
    end
end

case(vectors_multiplied!, (T, n) -> (in_vector(T, n, 4), in_vector(T, n, 5), in_vector(T, 5, 4), n, 5, 4))

# What it reads it has written, or not yet.
@tessella function vectors_mirrored!(x, n)
    for j in 1:n
        for i in 1:j
            x[(j-1)*n+i] = x[(i-1)*n+j] + x[(j-1)*n+i] / 2
        end
    end
end

case(vectors_mirrored!, (T, n) -> (in_vector(T, n, n), n))

# Rows that overlap: the last elements of one are the first of the next.
@tessella function vectors_overlapping!(y, x, d, n)
    for p in 1:n
        for k in 1:d+2
            y[(p-1)*d+k] = y[(p-1)*d+k] / 2 + x[p]
        end
    end
end

case(vectors_overlapping!, (T, n) -> (in_vector(T, 3 * n + 2), in_vector(T, n), 3, n))

# Strides of nothing and of less: every row is the same, or goes back.
@tessella function vectors_on_the_spot!(y, x, d, first, n, m)
    for p in 1:n
        for k in 1:m
            y[first+p*d+k] = y[first+p*d+k] / 2 + x[p]
        end
    end
end

case(vectors_on_the_spot!, (T, n) -> (in_vector(T, 5), in_vector(T, n), 0, 0, n, 5))

@tessella function vectors_backwards!(y, x, d, first, n, m)
    for p in 1:n
        for k in 1:m
            y[first+p*d+k] = y[first+p*d+k] / 2 + x[p]
        end
    end
end

case(vectors_backwards!, (T, n) -> (in_vector(T, 2 * n + 3), in_vector(T, n), -2, 2 * n, n, 3))

@tessella function vectors_summed!(s, x, n, m)
    for i in 1:n
        for j in 1:m
            s[i] += x[(j-1)*n+i]
        end
    end
end

case(vectors_summed!, (T, n) -> (in_vector(T, n), in_vector(T, n, 7), n, 7))

# A component of each point.
@tessella function vectors_of_points!(x, v, d, n, dt)
    for p in 1:n, c in 1:d
        x[(p-1)*d+c] += dt * v[(p-1)*d+c]
    end
    for p in 2:n
        x[(p-1)*d+1] = x[(p-2)*d+1] - x[(p-1)*d+1]
    end
end

case(vectors_of_points!, (T, n) -> (in_vector(T, 3, n), in_vector(T, 3, n), 3, n, T(0.25)))

# Where data say that a cell is fluid.
@tessella function vectors_masked!(u, solid, n, m)
    for j in 2:m-1, i in 2:n-1
        k = (j - 1) * n + i
        if !solid[k]
            u[k] = u[k] + (u[k-n] - u[k]) / 4
        end
    end
end

case(vectors_masked!, (T, n) -> (in_vector(T, n, 11), [mod(7k, 5) == 0 for k in 1:11n], n, 11))

# All elements by one number, up to a product of sizes.
@tessella function vectors_flat!(v, u, nx, ny)
    for k in 1:nx*ny
        a = u[k] / 2
        if a > 0
            v[k] = a
            a += 1
        end
        u[k] = a
    end
end

case(vectors_flat!, (T, n) -> (in_vector(T, n, 9), in_vector(T, n, 9), n, 9))
case(vectors_flat!, (T, n) -> (in_vector(T, 40), in_vector(T, n, 9), n, 9))

@tessella function vectors_between_rows!(v, u, nx, ny)
    for k in nx+1:nx*(ny-1)
        v[k] = u[k-1] + u[k+1] + u[k-nx] + u[k+nx] - 4 * u[k]
    end
end

case(vectors_between_rows!, (T, n) -> (in_vector(T, n, 9), in_vector(T, n, 9), n, 9))

@tessella function vectors_total(u, nx, ny)
    s = zero(eltype(u))
    for k in 1:nx*ny
        s += u[k]
    end
    return s
end

case(vectors_total, (T, n) -> (in_vector(T, 150), n, 9))

@tessella function vectors_stepped!(u, v, nx, ny, steps)
    for t in 1:steps
        for j in 2:ny-1, i in 2:nx-1
            k = (j - 1) * nx + i
            v[k] = (u[k-1] + u[k+1] + u[k-nx] + u[k+nx]) / 4
        end
        for k in 1:nx*ny
            u[k] = v[k]
        end
    end
end

case(vectors_stepped!, (T, n) -> (in_vector(T, n, 7), in_vector(T, n, 7), n, 7, 3))

# Every second of them, down from the last.
@tessella function vectors_backwards_by_two!(v, u, nx, ny)
    for k in nx*ny:-2:1
        v[k] = u[k] - k
    end
end

case(vectors_backwards_by_two!, (T, n) -> (in_vector(T, n, 3), in_vector(T, n, 3), n, 3))
