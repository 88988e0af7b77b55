# Arrays whose elements are those of others at other places: gathers, masks, rows and columns, shifts.

using Statistics: mean

places(n) = [mod1(3i + 1, max(n, 1)) for i in 1:n]

@tessella function gathered!(y, x, idx)
    y .= 2 .* x[idx] .+ 1
    return nothing
end
case(gathered!, (T, n) -> (values_of(T, n), values_of(T, n), places(n)))

@tessella gathered_rows(A, rows) = A[rows, :]
case(gathered_rows, (T, n) -> (values_of(T, n, n + 1), places(n)))

@tessella gathered_in_a_column(A, rows, j) = sum(A[rows, j])
case(gathered_in_a_column, (T, n) -> (values_of(T, n, n + 1), places(n), n + 1))

@tessella gathered_outside(A, rows, j) = A[rows, j]
case(gathered_outside, (T, n) -> (values_of(T, n, n + 1), Int[], n + 2))

@tessella gathered_twice(A, rows, columns) = A[rows, columns[2:end]]
case(gathered_twice, (T, n) -> (values_of(T, n + 1, n + 1), places(n + 1), places(n + 1)))

@tessella gathered_by_numbers(A, idx) = A[idx]
case(gathered_by_numbers, (T, n) -> (values_of(T, n, 2), places(2n)))

@tessella gathered_like_a_matrix(x, idx) = x[idx] .+ 1
case(gathered_like_a_matrix, (T, n) -> (values_of(T, n + 1), reshape(places(2n + 2), 2, n + 1) .÷ 2 .+ (n == 0)))

@tessella function gathered_by_half(x, idx)
    h = x[idx .÷ 2]
    x .= 0
    return h
end
case(gathered_by_half, (T, n) -> (values_of(T, n), 2 .* places(n)))

@tessella function scattered!(y, idx, x)
    y[idx] .= x .+ 1
    return nothing
end
case(scattered!, (T, n) -> (values_of(T, n), places(n), values_of(T, n)))

@tessella function scattered_without_dot!(y, idx, x)
    y[idx] = x
    return nothing
end
case(scattered_without_dot!, (T, n) -> (values_of(T, n + 1), places(n), values_of(T, n)))

# The last of several stores to a place stays, and sums see the values before.
@tessella function scattered_twice!(y, idx)
    y[idx] .+= 1
    y[idx] .*= y[idx]
    return nothing
end
case(scattered_twice!, (T, n) -> (values_of(T, n + 1), [places(n); places(n)]))

@tessella function scattered_into_columns!(A, rows, j)
    A[rows, j] .= 3
    A[rows, 1:2] .-= A[rows, 2:3]
    return nothing
end
case(scattered_into_columns!, (T, n) -> (values_of(T, n, 3), places(n), 2))

@tessella function scattered_too_few!(y, idx, x)
    y[idx] .= x
    return nothing
end
case(scattered_too_few!, (T, n) -> (values_of(T, n + 1), places(n), values_of(T, n + 2)))

@tessella function masked!(x)
    x[x .< 0] .= 0
    x[abs.(x) .> 0.5] .*= 2
    return nothing
end
case(masked!, (T, n) -> (values_of(T, n),))

@tessella function masked_by_neighbours!(A)
    A[A .> A[end:-1:1, :]] .= -1
    return nothing
end
case(masked_by_neighbours!, (T, n) -> (values_of(T, n, n + 1),))

@tessella function masked_by_argument!(x, mask, a)
    x[mask] .+= a
    return nothing
end
case(masked_by_argument!, (T, n) -> (values_of(T, n), Bool[isodd(i) for i in 1:n], T(2)))
case(masked_by_argument!, (T, n) -> (values_of(T, n + 1), Bool[isodd(i) for i in 1:n], T(2)))

@tessella function columns!(s, A)
    j = 0
    for c in eachcol(A)
        c ./= 2
        s .+= c
    end
    for (i, r) in enumerate(eachrow(A))
        s[i] -= r[1] * r[end]
    end
end
case(columns!, (T, n) -> (values_of(T, n), values_of(T, n, n + 1)))

@tessella columns_generated(A) = [maximum(c) for c in eachcol(A)]
case(columns_generated, (T, n) -> (values_of(T, n + 1, n),))

@tessella columns_mapped(A) = map(r -> r[1] - r[2], eachrow(A))
case(columns_mapped, (T, n) -> (values_of(T, n, 2),))

@tessella function columns_zipped!(s, A, B)
    for (a, b) in zip(eachcol(A), eachcol(B))
        for i in eachindex(s)
            s[i] += a[i] * b[i]
        end
    end
end
case(columns_zipped!, (T, n) -> (values_of(T, n), values_of(T, n, n + 1), values_of(T, n, n + 2)))

@tessella reversed(x) = reverse(x)
case(reversed, (T, n) -> (values_of(T, n),))

@tessella reversed_along(A) = reverse(A; dims = 1) .- reverse(A, dims = 2)
case(reversed_along, (T, n) -> (values_of(T, n, n + 1),))

@tessella function reversed_in_place!(x)
    x .= reverse(x)
    return nothing
end
case(reversed_in_place!, (T, n) -> (values_of(T, n),))

@tessella shifted_around(x) = circshift(x, 1) .- circshift(x, -1)
case(shifted_around, (T, n) -> (values_of(T, n + 1),))

@tessella shifted_by(x, k) = circshift(x, k)
case(shifted_by, (T, n) -> (values_of(T, n + 1), 5))
case(shifted_by, (T, n) -> (values_of(T, n + 1), -20))

@tessella shifted_planes(A) = circshift(A, (1, -1)) .+ circshift(A, (0, 2)) .+ circshift(A, 1)
case(shifted_planes, (T, n) -> (values_of(T, n + 1, n + 2),))

@tessella permuted(A) = permutedims(A, (3, 1, 2))
case(permuted, (T, n) -> (values_of(T, n, 2, n + 1),))

@tessella function permuted_named(A)
    B = permutedims(A, (2, 1, 3))
    A .= 0
    return B .+ 1
end
case(permuted_named, (T, n) -> (values_of(T, n, 3, 2),))

@tessella mean_of(x) = mean(x)
case(mean_of, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int64, UInt8])

@tessella mean_of_squares(x) = mean(abs2, x)
case(mean_of_squares, (T, n) -> (values_of(T, n),))

@tessella mean_along(A) = mean(A; dims = 2)
case(mean_along, (T, n) -> (values_of(T, n, n + 1),))

@tessella function deviations!(x)
    x .-= mean(x)
    return nothing
end
case(deviations!, (T, n) -> (values_of(T, n),))

@tessella function moved_index!(B, A)
    for I in CartesianIndices((2:size(A, 1)-1, 2:size(A, 2)-1))
        up, right = CartesianIndex(1, 0), CartesianIndex(0, 1)
        B[I] = A[I + up] + A[I - up] + A[I + right] - A[I - right] + A[I - oneunit(I)]
    end
end
case(moved_index!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function moved_index_by_dimension!(B, A)
    for d in 1:2
        step = CartesianIndex(d == 1 ? 1 : 0, d == 2 ? 1 : 0)
        for I in CartesianIndices((1:size(A, 1)-2, 1:size(A, 2)-2))
            B[I] += A[I + 2step] - A[I]
        end
    end
end
case(moved_index_by_dimension!, (T, n) -> (values_of(T, n + 1, n + 1), values_of(T, n + 1, n + 1)))

@tessella wider_start(x) = mapreduce(abs, max, x; init = 1.5)
case(wider_start, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int64, Int8])

@tessella wider_sum(x) = reduce(+, x; init = 0.5)
case(wider_sum, (T, n) -> (values_of(T, n),); types = DataType[Float32, Float64, Int64])

@tessella wider_sum_along(A) = reduce(+, A; dims = 1, init = 0.25)
case(wider_sum_along, (T, n) -> (values_of(T, n, n + 1),); types = DataType[Float32, Int64])

# Places that are listed have no memory, and may depend on the iteration.
@tessella function edges!(A)
    A[[1, end], :] .= 0
    A[:, [1, end]] .= A[:, [2, end - 1]]
    A[2, [1, 2, 3]] .+= 1
    return nothing
end
case(edges!, (T, n) -> (values_of(T, n, n + 1),))

@tessella listed_columns(A) = A[:, [3, 1, 2]]
case(listed_columns, (T, n) -> (values_of(T, n, 3),))

@tessella function listed_twice!(x)
    x[[1, 1, 2]] .= x[[2, 3, 1]]
    x[[1, 2]] = x[[2, 1]]
    return sum(x[[1, 3]])
end
case(listed_twice!, (T, n) -> (values_of(T, n),))

@tessella function neighbours_swapped!(x, n)
    for t in 1:n-1
        x[[t, t + 1]] .= x[[t + 1, t]]
    end
end
case(neighbours_swapped!, (T, n) -> (values_of(T, n), n))
