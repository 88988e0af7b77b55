# Products of matrices and vectors. The values are small multiples of a power of two: sums of products of two are exact in any order.
# Results that are not exact are rounded.

using LinearAlgebra: mul!

rounded(x) = round.(x; digits = 5) .+ 0.0

@tessella product_with_vector(A, x) = A * x
case(product_with_vector, (T, n) -> (values_of(T, n, n + 1), values_of(T, n + 1)); types = [Float32, Float64, Int8, UInt16, Int64])

@tessella product_of_matrices(A, B) = A * B
case(product_of_matrices, (T, n) -> (values_of(T, n, n + 1), values_of(T, n + 1, n + 2)); types = [Float32, Float64, Int32])

@tessella function product_of_nothing(A, B)
    return A * B, A[:, 1:0] * B[1:0, 1], A[1:0, :] * B
end
case(product_of_nothing, (T, n) -> (values_of(T, n, 0), values_of(T, 0, n + 1)))

@tessella product_that_does_not_fit(A, B) = A * B
case(product_that_does_not_fit, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n)); types = [Float64])

@tessella function products_transposed(A, B, x)
    return A' * B, A * B', A' * B', transpose(A) * x, A' * A
end
case(products_transposed, (T, n) -> (values_of(T, n, n), values_of(T, n, n), values_of(T, n)))

@tessella function products_of_rows(A, x, y)
    return x' * y, transpose(x) * y, vec(x' * A), (-x' + 2y') * x, x' * A * y
end
case(products_of_rows, (T, n) -> (values_of(T, n, n), values_of(T, n), values_of(T, n)); types = [Float64, Int64])

@tessella function product_of_named_row(A, x, y)
    row = x' * A
    return row * y + row[1, end]
end
case(product_of_named_row, (T, n) -> (values_of(T, n, n), values_of(T, n), values_of(T, n)); types = [Float64])

@tessella function products_outer(x, y, A)
    return x * y', x * A, A - x * y'
end
case(products_outer, (T, n) -> (values_of(T, n), values_of(T, n), values_of(T, 1, n)))

@tessella function products_of_types(A, x, b, z)
    return A * x, A' * b, b * x', [true false; true true] * [3, 4], A * (1:size(A, 2)), A * z
end
case(products_of_types, (T, n) -> (values_of(T, n, n), values_of(Int16, n), collect(values_of(Int8, n) .> 50), complex.(values_of(T, n), T(0.5))))

@tessella function products_complex(A, B, x)
    return A * x, A' * x, transpose(A) * B, A * B', x' * x, transpose(x) * x, x * x', A * real.(x), x' * A * x
end
case(products_complex, (T, n) -> (complex.(values_of(T, n, n), T(0.25)), complex.(T(0.5), values_of(T, n, n)), complex.(values_of(T, n), values_of(T, n))); types = [Float64])

@tessella products_of_parts(A, x) = A[2:end, :] * x + view(A, 1:size(A, 1)-1, :) * view(A, 1, :) - A[1:end-1, 1:2] * x[1:2]
case(products_of_parts, (T, n) -> (values_of(T, n + 2, n + 2), values_of(T, n + 2)))

@tessella products_in_broadcasts(A, x, b) = tanh.(A * x .+ b) .- 2 .* (A * b)
case(products_in_broadcasts, (T, n) -> (values_of(T, n, n), values_of(T, n), values_of(T, n)))

@tessella function products_in_place!(y, A, x, b)
    y .= A * x .+ b
    x .+= 0.5 .* (A * x)
    b .-= A * (x - b)
    y[:] = A * y
    return nothing
end
case(products_in_place!, (T, n) -> (values_of(T, n), values_of(T, n, n), values_of(T, n), values_of(T, n)); types = [Float64])

@tessella function products_of_three(A, B, x)
    return A * B * x, A * (B * x), (A + B) * (2x), 2A * B
end
case(products_of_three, (T, n) -> (values_of(T, n, n), values_of(T, n, n), values_of(T, n)); types = [Float64, Int64])

@tessella function products_stored!(y, C, A, B, x)
    mul!(y, A, x)
    mul!(C, A, B')
    return mul!(x, A', y)
end
case(products_stored!, (T, n) -> (values_of(T, n), values_of(T, n, n), values_of(T, n, n), values_of(T, n, n), values_of(T, n)); types = [Float64])

@tessella function products_added!(y, C, A, B, x, α, β)
    mul!(y, A, x, α, β)
    mul!(C, A, B, 2, 1)
    mul!(C, B, A, 1, β)
    return nothing
end
case(products_added!, (T, n) -> (values_of(T, n), values_of(T, n, n), values_of(T, n, n), values_of(T, n, n), values_of(T, n), T(2), T(-0.5)); types = [Float64])

# What is multiplied by zero is not read.
@tessella function products_over_nan!(y, z, A, x, β)
    mul!(y, A, x, 2, 0)
    mul!(z, A, x, 2, β)
    return nothing
end
case(products_over_nan!, (T, n) -> (fill(T(NaN), n), fill(T(NaN), n), values_of(T, n, n), values_of(T, n), T(0)))

@tessella function products_into_parts!(C, A, x)
    for k in 2:size(C, 2)
        mul!(view(C, :, k), A, x, k, 1)
        @views mul!(C[1:end-1, k-1], A[1:end-1, :], C[:, k])
    end
    return nothing
end
case(products_into_parts!, (T, n) -> (values_of(T, n + 1, 3), values_of(T, n + 1, n + 1), values_of(T, n + 1)))

@tessella function products_into_wrong_sizes!(y, A, x)
    mul!(y, A, x)
    return nothing
end
case(products_into_wrong_sizes!, (T, n) -> (values_of(T, n + 1), values_of(T, n, n), values_of(T, n)); types = [Float64])

@tessella function products_into_new(A, B, x)
    y = mul!(similar(x), A, x)
    return y, mul!(zeros(size(A)), A, B', 2, 1), mul!(copy(x), A, y, 1, -1), dot(x, A, y)
end
dot(x, A, y) = sum(x .* (A * y))
case(products_into_new, (T, n) -> (values_of(T, n, n), values_of(T, n, n), values_of(T, n)); types = [Float64])

@tessella function products_scaled!(y, x)
    mul!(y, 2, x)
    mul!(x, y, 0.5)
    return nothing
end
case(products_scaled!, (T, n) -> (values_of(T, n), values_of(T, n)); types = [Float64])

@tessella function euler_of_system(A, x, dt, steps)
    for _ in 1:steps
        x = x + dt * (A * x)
    end
    return x
end
case(euler_of_system, (T, n) -> (values_of(T, n, n), values_of(T, n), T(0.125), 2); types = [Float64])

@tessella function markov_chain(P, p, steps)
    for _ in 1:steps
        p = vec(p' * P)
    end
    return p
end
case(markov_chain, (T, n) -> (abs.(values_of(T, n, n)), values_of(T, n), 2); types = [Float64])

@tessella function largest_by_power(A, x, steps)
    value = 0.0
    for _ in 1:steps
        y = A * x
        value = x' * y / (x' * x)
        x = y ./ maximum(abs, y)
    end
    return round(value; digits = 5), rounded(x)
end
case(largest_by_power, (T, n) -> (values_of(T, n, n) .+ 2, ones(T, n), 5); types = [Float64])

@tessella function solved_by_gradients(A, b, steps)
    x = zeros(length(b))
    r = b - A * x
    p = copy(r)
    for _ in 1:steps
        q = A * p
        α = r' * r / (p' * q)
        x += α * p
        next = r - α * q
        p = next + (next' * next / (r' * r)) * p
        r = next
    end
    return rounded(x)
end
case(solved_by_gradients, (T, n) -> ((values_of(T, n, n) .+ values_of(T, n, n)') ./ 4 .+ T[i == j ? n + 1 : 0 for i in 1:n, j in 1:n], values_of(T, n) .+ 2, min(n, 4)); types = [Float64])

@tessella function least_squares!(x, A, b, step, steps)
    for _ in 1:steps
        x .-= step .* (A' * (A * x - b))
    end
    x .= rounded(x)
    return nothing
end
case(least_squares!, (T, n) -> (values_of(T, n), values_of(T, n + 2, n), values_of(T, n + 2), T(0.01), 4); types = [Float64])

@tessella layer(W, x, b) = tanh.(W * x .+ b)
@tessella network(W, V, x, b) = V * layer(W, x, b)
case(network, (T, n) -> (values_of(T, n, n), T[i == j for i in 1:n, j in 1:n], values_of(T, n), values_of(T, n)))
