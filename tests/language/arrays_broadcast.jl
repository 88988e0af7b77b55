# Broadcasting and arithmetic on whole arrays.

@tessella function broadcast_fill!(B, A)
    B .= 0
    return nothing
end
case(broadcast_fill!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function broadcast_add!(B, A)
    B .= A .+ 2 .* B .- 1
end
case(broadcast_add!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1)))

@tessella function broadcast_update!(B, A)
    B .+= A
    B .*= 2
    B .-= A .^ 2
    return B
end
case(broadcast_update!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function broadcast_vector_matrix!(B, x, y)
    B .= x .+ B
    B .= B .* y'
    return nothing
end
case(broadcast_vector_matrix!, (T, n) -> (values_of(T, n, n + 2), values_of(T, n), values_of(T, n + 2)))

@tessella function broadcast_at!(B, A, c)
    @. B = c * A + abs(B) - A^2 / 4
    return nothing
end
case(broadcast_at!, (T, n) -> (values_of(T, n, n), values_of(T, n, n), T(3) / 8))

@tessella function broadcast_functions!(B, A)
    B .= sqrt.(abs.(A)) .+ max.(A, 0) .* sign.(B)
    B .= ifelse.(A .> 0, B, .-B)
    return nothing
end
case(broadcast_functions!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function broadcast_types!(B, A)
    B .= Float32.(A) .+ unsafe_trunc.(Int, 8 .* A) .+ convert.(Float64, A)
    return nothing
end
case(broadcast_types!, (T, n) -> (values_of(Float64, n), values_of(T, n)); types = [Float32])

@tessella function broadcast_shift!(A)
    A[2:end] .= A[1:end-1]
    return nothing
end
case(broadcast_shift!, (T, n) -> (values_of(T, n),))

@tessella function broadcast_reverse!(A)
    A .= A[end:-1:1] .+ A
    return nothing
end
case(broadcast_reverse!, (T, n) -> (values_of(T, n),))

@tessella function broadcast_transpose!(A)
    A .= A .+ A'
    return A
end
case(broadcast_transpose!, (T, n) -> (values_of(T, n, n),))

@tessella function broadcast_mismatch!(B, A)
    B .= A .+ 1
    return nothing
end
case(broadcast_mismatch!, (T, n) -> (values_of(T, n), values_of(T, n + 2)))

@tessella function broadcast_lengths!(x, i)
    x .= (1:length(x)) .* 2 .+ i
    return nothing
end
case(broadcast_lengths!, (T, n) -> (values_of(T, n), 3))

half(x) = x / 2

@tessella function broadcast_own!(B, A)
    twice(x) = 2x
    B .= twice.(A) .+ map(x -> x + 1, B)
    return nothing
end
case(broadcast_own!, (T, n) -> (values_of(T, n), values_of(T, n)))

@tessella function arithmetic!(C, A, B)
    D = A + B
    C .= 2D - A / 4
    C .= -C + D * 3
    return C
end
case(arithmetic!, (T, n) -> (values_of(T, n, n), values_of(T, n, n), values_of(T, n, n)))

@tessella function arithmetic_mismatch!(C, A)
    C .= C + A
    return nothing
end
case(arithmetic_mismatch!, (T, n) -> (values_of(T, n), values_of(T, n + 1)))

@tessella function broadcast_label!(B, A)
    @comp S B .= A .* 2
    return nothing
end
case(broadcast_label!, (T, n) -> (values_of(T, n, n), values_of(T, n, n)))

@tessella function broadcast_integers!(B, A)
    B .= A .÷ 2 .+ (A .% 3) .* (B .& 1)
    return nothing
end
case(broadcast_integers!, (T, n) -> (values_of(T, n), values_of(T, n)); types = [Int64])

# Of integers alone, what Julia computes on a range's ends has the same elements as what is computed one by one.
@tessella function broadcast_integer_ranges!(x, y, k)
    r = 1:length(x)
    s = 2 .* r .- k
    x .= y .* (3 .- r) .+ (-s .+ r)
    x .+= s .* Int8(3) .+ (length(x):-1:1) .* 3
    return sum(k .- 2 .* r)
end
case(broadcast_integer_ranges!, (T, n) -> (values_of(T, n), values_of(T, n), 5))

# Neither an array nor a function of its elements is a range: all of these go one by one.
@tessella function broadcast_elements_of_ranges!(x, y, dx)
    r = 0:length(x)-1
    x .= dx .* Float64.(r) .- 0.3 .+ y .* r .* dx
    x .+= dx .* abs2.(r) .+ sqrt.(r) ./ 3 .+ y ./ (r .+ 1)
    x .+= [dx * i + 0.1 for i in r] .+ muladd.(dx, r, 0.1) .+ 1.5 ./ (r .+ 1)
    return sum(0.1 * i for i in r)
end
case(broadcast_elements_of_ranges!, (T, n) -> (values_of(T, n), values_of(T, n), T(0.1)))
