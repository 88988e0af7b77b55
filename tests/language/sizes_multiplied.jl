# Bounds and extents that are products and quotients of sizes.

@tessella function multiplied_work!(u, nx, ny)
    v = zeros(eltype(u), nx * ny)
    for k in 1:nx*ny
        v[k] = 2 * u[k]
    end
    for j in 2:ny-1, i in 2:nx-1
        u[(j-1)*nx+i] = (v[(j-1)*nx+i-1] + v[(j-1)*nx+i+1] + v[(j-2)*nx+i] + v[j*nx+i]) / 4
    end
end

case(multiplied_work!, (T, n) -> (in_vector(T, n, n + 2), n, n + 2))

# A triangle of numbers, and its sums.
@tessella function multiplied_triangle(x)
    n = length(x)
    p = zeros(eltype(x), n * (n + 1) ÷ 2)
    for k in 1:n*(n+1)÷2
        p[k] = k
    end
    for j in 1:n, i in 1:j
        p[j*(j-1)÷2+i] += x[i] * x[j]
    end
    return p
end

case(multiplied_triangle, (T, n) -> (in_vector(T, n, 1),))

@tessella function multiplied_blocks(a, w)
    n = length(a)
    s = zeros(eltype(a), cld(n, w))
    for b in 1:cld(n, w)
        for i in (b-1)*w+1:min(b * w, n)
            s[b] += a[i]
        end
    end
    return s
end

case(multiplied_blocks, (T, n) -> (in_vector(T, n, 7), 1))
case(multiplied_blocks, (T, n) -> (in_vector(T, n, 7), 4))
case(multiplied_blocks, (T, n) -> (in_vector(T, n, 7), n + 1))
case(multiplied_blocks, (T, n) -> (in_vector(T, n, 7), 0))
case(multiplied_blocks, (T, n) -> (in_vector(T, n, 7), -3))

# What a quotient leaves is a matrix's first extent, and a stride.
@tessella function multiplied_columns(a, w)
    n = length(a) ÷ w
    s = zeros(eltype(a), n, w)
    for j in 1:w, i in 1:n
        s[i, j] = a[(j-1)*n+i] + i - j
    end
    return s
end

case(multiplied_columns, (T, n) -> (in_vector(T, n, 7), 3))
case(multiplied_columns, (T, n) -> (in_vector(T, n, 7), 7))
case(multiplied_columns, (T, n) -> (in_vector(T, n, 7), 0))
case(multiplied_columns, (T, n) -> (in_vector(T, n, 7), -1))

# Arrays that are longer than the loop, which time goes around.
@tessella function multiplied_steps!(u, v, nx, ny, steps)
    n = nx * ny
    for t in 1:steps
        for k in 2:n-1
            v[k] = (u[k-1] + u[k+1]) / 2
        end
        for k in 2:n-1
            u[k] = v[k]
        end
    end
end

case(multiplied_steps!, (T, n) -> (in_vector(T, n, 9), in_vector(T, n, 9), n, 5, 4))
case(multiplied_steps!, (T, n) -> (in_vector(T, n, 9), in_vector(T, n, 9), n, 10, 4))
case(multiplied_steps!, (T, n) -> (in_vector(T, n, 9), in_vector(T, n, 9), -n, 5, 4))

# Volumes: several products, sums of them, and a place behind the first half.
@tessella function multiplied_volumes!(u, nx, ny, nz)
    for k in nx*ny*nz+1:2nx*ny*nz
        u[k] = u[k] + 1
    end
    for k in (nx+1)*(ny-1):nx*(ny+1)
        u[k] = u[k] * 2
    end
    for k in max(1, nx * ny - 3):min(nx * ny + 3, length(u))
        u[k] = -u[k]
    end
    for k in 1:length(u)
        if k <= fld(nx * nz, 2) || k == nx * ny * nz
            u[k] = u[k] - 1
        end
    end
end

case(multiplied_volumes!, (T, n) -> (in_vector(T, n, 4, 6), n, 4, 3))
case(multiplied_volumes!, (T, n) -> (in_vector(T, n, 4, 6), 3, n, 4))

# Going down, and with steps.
@tessella function multiplied_down!(u, nx, ny)
    for k in nx*ny:-1:2
        u[k] = u[k] + u[k-1]
    end
    for k in 1:3:nx*ny-1
        u[k] = 2 * u[k]
    end
end

case(multiplied_down!, (T, n) -> (in_vector(T, n, 5), n, 5))

@tessella function multiplied_expected!(u, nx, ny)
    @assert length(u) == nx * ny
    length(u) >= div(nx, ny) || throw(ArgumentError("short"))
    for k in 1:length(u)
        u[k] = 3 * u[k]
    end
end

case(multiplied_expected!, (T, n) -> (in_vector(T, n, 5), n, 5))
case(multiplied_expected!, (T, n) -> (in_vector(T, n, 5), n, 4))
case(multiplied_expected!, (T, n) -> (in_vector(T, n, 5), n, 0))

# Quotients of iterators keep what tells Julia's error, beside quotients of sizes.
@tessella function multiplied_quotients!(u, x, n, w)
    for k in 1:length(u)
        v = (n ÷ w) * k + 100 ÷ (k - 3)
        u[k] += x[v]
    end
end

case(multiplied_quotients!, (T, n) -> (in_vector(T, n, 1), in_vector(T, 2000, 1), 60, 1))
case(multiplied_quotients!, (T, n) -> (in_vector(T, min(n, 2), 1), in_vector(T, 2000, 1), 600, 4))

# Halves, each of the one before: a number of rows for each level.
@tessella function multiplied_levels(u, w)
    n = length(u)
    a, b = cld(n, w), 0
    b = cld(a, w)
    c = cld(b, w)
    d = cld(c, w)
    e = cld(d, w)
    s = zeros(eltype(u), c)
    for k in 1:c
        s[k] = u[k] + 1
    end
    for k in 1:e
        s[k] = 2 * s[k]
    end
    return s
end

case(multiplied_levels, (T, n) -> (in_vector(T, n, 3), 2))

# Squares of data beside a square of an argument, which may be large.
@tessella function multiplied_circle!(x, r)
    for k in 1:length(x)
        if x[k] * x[k] <= r * r
            x[k] = -1
        end
    end
end

case(multiplied_circle!, (T, n) -> (in_vector(T, n, 3), 3_000_000_000); types = [Int64])

# Other numbers that sizes give: powers, remainders, what depends on a size.
@tessella function multiplied_powers!(x, q, n)
    for k in 2:2^q
        x[k] = x[k] + 1
    end
    for k in 1:mod(n * n, 7)
        x[k] = 2 * x[k]
    end
    for k in 1:(n > 3 ? n * q : n)
        x[k] = x[k] - 1
    end
    for k in n*n-4611686018427387904:n*n-4611686018427387902
        x[1] = x[1] + 1
    end
end

case(multiplied_powers!, (T, n) -> (in_vector(T, 100, 1), 5, n))
