# All places must be inside also where nothing is asked for: another axis is empty, or not all elements are used.
@tessella function gathered_beside_nothing!(B, A, p, q)
    B .= A[p, q]
end

@tessella function scattered_beside_nothing!(A, p, q)
    A[p, q] .= 0
    return nothing
end

@tessella function added_beside_nothing!(A, p)
    A[p, 1:0] .+= 1
    return nothing
end

@tessella function listed_beside_nothing!(B, A)
    B .= A[[1, end], 1:0]
end

@tessella first_gathered!(y, x, p) = (y[1] = x[p][1]; nothing)

@tessella count_of_gathered!(y, x, p) = (y[1] = length(x[p]); nothing)

@tessella function gathered_where!(y, x, p, use)
    if use > 0
        y[1] = length(x[p])
    end
    return nothing
end

@tessella function gathered_for_each!(y, A, p)
    for j in axes(A, 2)
        y[j] = sum(A[p, j])
    end
end

# The places are made of what the function has written before, and yet inside.
@tessella function gathered_by_clamped!(y, x, p)
    p .= p .+ 1
    y .= x[clamp.(p, 1, length(x))]
end

for p in ([1, 2], [2, 9], Int8[0, 1])
    wanted = [Float64]
    case(gathered_beside_nothing!, (T, n) -> (zeros(T, 2, 0), values_of(T, n, n), p, Int[]); types = wanted)
    case(gathered_beside_nothing!, (T, n) -> (zeros(T, 0, 2), values_of(T, n, n), Int[], p); types = wanted)
    case(gathered_beside_nothing!, (T, n) -> (zeros(T, 2, 1), values_of(T, n, n), p, [1]); types = wanted)
    case(scattered_beside_nothing!, (T, n) -> (values_of(T, n, n), p, Int[]); types = wanted)
    case(scattered_beside_nothing!, (T, n) -> (values_of(T, n, n), Int[], p); types = wanted)
    case(scattered_beside_nothing!, (T, n) -> (values_of(T, n, 0), p, Int[]); types = wanted)
    case(added_beside_nothing!, (T, n) -> (values_of(T, n, n), p); types = wanted)
    case(first_gathered!, (T, n) -> (zeros(T, 1), values_of(T, n), p); types = wanted)
    case(count_of_gathered!, (T, n) -> (zeros(T, 1), values_of(T, n), p); types = wanted)
    case(gathered_where!, (T, n) -> (zeros(T, 1), values_of(T, n), p, n - 3); types = wanted)
    case(gathered_where!, (T, n) -> (zeros(T, 1), values_of(T, n), p, 1); types = wanted)
    case(gathered_for_each!, (T, n) -> (zeros(T, n), values_of(T, 3, n), p); types = wanted)
end
case(listed_beside_nothing!, (T, n) -> (zeros(T, 2, 0), values_of(T, n, 3)))
case(gathered_by_clamped!, (T, n) -> (zeros(T, 2), values_of(T, n), [-5, 100]))

# One number for all elements is converted once, whether there are elements or not; what a broadcast computes, for each.
@tessella filled_all!(x, v) = (fill!(x, v); nothing)
@tessella filled_by_dots!(x, v) = (x .= v; nothing)
@tessella filled_by_two!(x, v, w) = (x .= v + w; nothing)
@tessella filled_by_broadcast!(x, v, w) = (x .= v .+ w; nothing)
@tessella filled_by_identity!(x, v) = (x .= identity.(v); nothing)
@tessella filled_at_dots!(x, v) = (@. x = v; nothing)
@tessella filled_of_part!(x, v) = (x[2:1] .= v; nothing)
@tessella filled_at_places!(x, p, v) = (x[p] .= v; nothing)
@tessella filled_where!(x, mask, v) = (x[mask] .= v; nothing)

for v in (300, Int16(-129), 127)
    for f in (filled_all!, filled_by_dots!, filled_by_identity!, filled_at_dots!, filled_of_part!)
        case(f, (T, n) -> (values_of(Int8, n), v); types = [Float64])
    end
    case(filled_by_two!, (T, n) -> (values_of(Int8, n), v, 1); types = [Float64])
    case(filled_by_broadcast!, (T, n) -> (values_of(Int8, n), v, 0); types = [Float64])
    case(filled_at_places!, (T, n) -> (values_of(Int8, n + 1), Int[k for k in 1:n], v); types = [Float64])
    case(filled_where!, (T, n) -> (values_of(Int8, n), Bool[k == 2 for k in 1:n], v); types = [Float64])
end

# Places that the function computes are tested while it runs, those that nothing is read from among them.
@tessella function gathered_as_computed!(y, x, p, q)
    for i in eachindex(p)
        p[i] += q
    end
    y[1] = length(x[p])
    y[2:1+length(p)] .= x[p]
    return nothing
end
for q in (0, 1, -3)
    case(gathered_as_computed!, (T, n) -> (zeros(T, 3), values_of(T, n), [1, 2], q); types = [Float64])
end

# Places that are constants of the module, alone and in tuples.
const NEIGHBOURS = (CartesianIndex(0, 1), CartesianIndex(1, 0), CartesianIndex(0, -1), CartesianIndex(-1, 0))
const ONE_RIGHT = CartesianIndex(0, 1)
const PLACES_AND_WEIGHTS = ((at = CartesianIndex(1, -1), weight = 0.5), (at = CartesianIndex(-1, 1), weight = -2.0))
const FAR = (CartesianIndex(7),)

@tessella function neighbours_added!(B, A)
    m, n = size(A)
    for I in CartesianIndices((2:m-1, 2:n-1))
        s = zero(eltype(A))
        for d in NEIGHBOURS
            s += A[I+d]
        end
        B[I] = s - A[I+ONE_RIGHT]
        for part in PLACES_AND_WEIGHTS
            B[I] += part.weight * A[I-part.at]
        end
    end
    return nothing
end
case(neighbours_added!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1)))

@tessella neighbours_far(A) = A[FAR[1]] + A[CartesianIndex(1)+FAR[1]]
case(neighbours_far, (T, n) -> (values_of(T, n),))
