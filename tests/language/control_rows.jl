# Rows that the lanes of a warp read together on a GPU: there are more of them than a few warps have.

@tessella function rows_products!(y, rowptr, col, val, x)
    for i in eachindex(y)
        acc = zero(eltype(y))
        for k in rowptr[i]:rowptr[i+1]-1
            acc += val[k] * x[col[k]]
        end
        y[i] = acc
    end
end

@tessella function rows_without_diagonals!(y, rowptr, col, val, x)
    for i in eachindex(y)
        s, d = x[i], one(eltype(y))
        for k in rowptr[i]:rowptr[i+1]-1
            if col[k] != i
                s -= val[k] * x[col[k]]
            else
                d = val[k] + 2
            end
        end
        y[i] = s / d
    end
end

@tessella function rows_within_reach!(f, x, rowptr, list, reach)
    for i in axes(f, 2)
        fx, fy, near = zero(reach), zero(reach), 0
        for k in rowptr[i]:rowptr[i+1]-1
            dx = x[1, list[k]] - x[1, i]
            dy = x[2, list[k]] - x[2, i]
            r = dx * dx + dy * dy
            if r < reach
                fx += dx * (reach - r)
                fy += dy * (reach - r)
                near += 1
            end
        end
        f[1, i], f[2, i], f[3, i] = fx, fy, near
    end
end

@tessella function rows_backwards!(y, rowptr, val, w)
    for i in eachindex(y)
        for k in rowptr[i+1]-1:-1:rowptr[i]
            y[i] = (y[i] + val[k]) * w[i]
        end
    end
end

@tessella function rows_of_matrices!(Y, rowptr, col, val, X)
    for c in axes(Y, 2), i in axes(Y, 1)
        acc = zero(eltype(Y))
        for k in rowptr[i]:rowptr[i+1]-1
            acc += val[k] * X[col[k], c]
        end
        Y[i, c] += acc
    end
end

@tessella function rows_of_columns!(v, A)
    m, n = size(A)
    for j in 1:n
        mean = zero(eltype(v))
        for i in 1:m
            mean += A[i, j]
        end
        mean /= m
        s = zero(eltype(v))
        for i in 1:m
            d = A[i, j] - mean
            s += d * d
        end
        v[j] = s
    end
end

@tessella function rows_counted!(count, least, rowptr, key::Vector{UInt8}, limit::Vector{UInt8})
    for i in eachindex(count)
        for k in rowptr[i]:rowptr[i+1]-1
            key[k] > limit[i] && (count[i] += 1)
            least[i] = min(least[i], key[k])
        end
    end
end

# Rows without elements begin and end anywhere.
@tessella function rows_from_to!(y, lo, hi, val)
    for i in eachindex(y)
        for k in lo[i]:hi[i]
            y[i] += val[k]
        end
        for k in hi[i]:-1:lo[i]
            y[i] -= val[k] / 4
        end
    end
end

rows_from(n, most) = cumsum([1; [mod(5i * i, most) for i in 1:n]])

# 17 * 2003 rows are more than 1024 warps have.
for (most, T) in ((23, Int), (12, Int32), (90, Int))
    n_of(n) = 2003n
    rows(n) = T.(rows_from(n_of(n), most))
    there(n) = T.(mod.(7 .* (1:rows(n)[end]-1) .^ 2, max(n_of(n), 1)) .+ 1)
    case(rows_products!, (E, n) -> (zeros(E, n_of(n)), rows(n), there(n), values_of(E, rows(n)[end] - 1), values_of(E, n_of(n)));
         targets = [:c])
    case(rows_without_diagonals!,
         (E, n) -> (zeros(E, n_of(n)), rows(n), there(n), values_of(E, rows(n)[end] - 1), values_of(E, n_of(n))); targets = [:c])
    case(rows_within_reach!, (E, n) -> (zeros(E, 3, n_of(n)), values_of(E, 2, n_of(n)), rows(n), there(n), E(1) / 2);
         targets = [:c])
    case(rows_backwards!, (E, n) -> (values_of(E, n_of(n)), rows(n), values_of(E, rows(n)[end] - 1), values_of(E, n_of(n)));
         targets = [:c])
    case(rows_of_matrices!,
         (E, n) -> (values_of(E, n_of(n), 3), rows(n), there(n), values_of(E, rows(n)[end] - 1), values_of(E, n_of(n), 3));
         targets = [:c])
    case(rows_counted!,
         (E, n) -> (zeros(E, n_of(n)), fill(0xff, n_of(n)), rows(n), UInt8.(mod.(3 .* (1:rows(n)[end]-1), 250)),
                    UInt8.(mod.(1:n_of(n), 240))); types = [Int32, Int64], targets = [:c])
end
from_to(n) = ([mod(i, 5) == 0 ? typemax(Int) : mod(i, 5) == 1 ? 5 : 1 + mod(i, 40) for i in 1:2003n],
              [mod(i, 5) < 2 ? typemin(Int) : mod(i, 40) + mod(i, 70) for i in 1:2003n])
case(rows_from_to!, (T, n) -> (values_of(T, 2003n), from_to(n)..., values_of(T, 120)); targets = [:c])
for m in (0, 7, 40)
    case(rows_of_columns!, (T, n) -> (zeros(T, 4003n), values_of(T, m, 4003n)); targets = [:c])
end
