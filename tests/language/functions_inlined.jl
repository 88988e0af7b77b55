# Functions that the nest calls, and constants of the module.

const QUARTER = 0.25
const SMALL = Int32(-3)
const TINY = 0.1f0
const Real32 = Float32

square_of(x) = x * x

function clamped(x::T, low, high) where {T}
    if x < low
        return T(low)
    elseif x > high
        return T(high)
    end
    return x
end

ordered(a, b) = a < b ? (a, b) : (b, a)

"With a docstring."
function smooth!(B, A; weight = QUARTER, reach::Int = 1)
    n = length(A)
    for i in 1+reach:n-reach
        B[i] = weight * (A[i-reach] + A[i+reach])
    end
    return nothing
end

rank_of(x::Integer) = 1
rank_of(x::Float64) = 2
rank_of(x::Real) = 3
rank_of(x::T, y::T) where {T} = 4
rank_of(x, y) = 5

with_default(x, y = 2x, z = y + 1) = x + y * z

@inline function total(A, first_one = 1)
    s = zero(eltype(A))
    for i in first_one:length(A)
        s += A[i]
    end
    s
end

function both_ends(A)
    isempty_now = length(A) == 0
    isempty_now && return zero(eltype(A)), zero(eltype(A))
    return A[1], A[end]
end

applied(f, x) = f(f(x))

converted(x)::Float64 = 2x

zero_of(::Type{T}) where {T} = zero(T)
zero_of(x) = zero(x) + one(x)

@tessella function helpers_of_values!(B, A)
    for i in 1:length(A)
        lo, hi = ordered(A[i], B[i])
        B[i] = clamped(square_of(lo), 0, 1) + hi * rank_of(hi) + rank_of(hi, lo) + rank_of(i)
    end
    return nothing
end

@tessella function helpers_of_arrays!(B, A)
    smooth!(B, A)
    smooth!(A, B; weight = 0.5, reach = 2)
    smooth!(B, A, reach = 3)
    return nothing
end

@tessella function helpers_with_loops(A, B)
    x = total(A) + total(B, 2)
    first_one, last_one = both_ends(A)
    return x * first_one - last_one
end

@tessella function helpers_in_branches!(B, A)
    for i in 1:length(A)
        B[i] = A[i] > 0 ? total(A, i) : with_default(A[i])
    end
    return nothing
end

@tessella function helpers_as_arguments!(B, A)
    for i in 1:length(A)
        B[i] = applied(square_of, A[i]) + applied(x -> x + 1, A[i]) + converted(A[i])
        B[i] += zero_of(eltype(A)) + zero_of(A[i])
    end
    return nothing
end

@tessella function constants_of_the_module!(B, A)
    for i in 1:length(A)
        B[i] = QUARTER * A[i] + SMALL + TINY * Real32(0.5)
    end
    return nothing
end

@tessella function with_keywords!(B, A; scale = 2, offset::Int = 0, T = 1.0)
    for i in 1:length(A)
        B[i] = scale * A[i] + offset - T
    end
    return nothing
end

@tessella function calls_another_compiled!(B, A)
    helpers_of_values!(B, A)
    helpers_of_values!(A, B)
    return nothing
end

given(T, n) = (zeros(T, n), values_of(T, n))
for f in (helpers_of_values!, helpers_of_arrays!, helpers_in_branches!, helpers_as_arguments!,
          constants_of_the_module!, with_keywords!, calls_another_compiled!)
    case(f, given)
end
case(helpers_with_loops, given)

# A comprehension means what its names mean where it stands, not in the function that it is passed to.
lengthened(x, v) = [v[i] + x[1] for i in eachindex(v)]
by_keyword(x; v) = v .* x[1]
first_of_pair(x, pair) = pair[1] .- x[1]

@tessella comprehensions_passed(x, y) =
    lengthened(y, [x[k] for k in 1:length(x)]) .+ by_keyword(y; v = [2x[k] for k in 1:length(x)])
case(comprehensions_passed, (T, n) -> (values_of(T, n + 1), 2 .* values_of(T, n + 1)))

@tessella comprehensions_in_tuples(x, y) = first_of_pair(y, ([x[k] for k in 1:length(x)], 1))
case(comprehensions_in_tuples, (T, n) -> (values_of(T, n + 1), 2 .* values_of(T, n + 1)))

@tessella function comprehensions_in_scopes(x, y)
    shifted(x, v) = v .+ x[1]
    inner = let x = 2 .* x
        [x[k] for k in 1:length(x)]
    end
    return shifted(y, [x[k] for k in 1:length(x)]) .+ inner
end
case(comprehensions_in_scopes, (T, n) -> (values_of(T, n + 1), 2 .* values_of(T, n + 1)))
