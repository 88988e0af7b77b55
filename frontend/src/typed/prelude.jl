# Functions of Base that are loops or several steps, as Julia defines them for the numbers and vectors that there are here. A
# call of one is inlined like that of a function which the user wrote.

# Products of integers wrap around, so that the order of the factors does not matter.
function integer_power(base, exponent)
    exponent < 0 && base != 1 && base != -1 && throw(DomainError(exponent, "a negative exponent of an integer"))
    result = one(base)
    square = base
    rest = exponent < 0 ? exponent & one(exponent) : exponent
    while rest > 0
        if rest & 1 != 0
            result *= square
        end
        square *= square
        rest >>= 1
    end
    return result
end

power_of_two(base, exponent) = begin
    exponent < 0 && throw(DomainError(exponent, "a negative exponent of an integer"))
    base >> 1 << exponent
end

power_of_minus_one(base, exponent) = iseven(exponent) ? -base : base

function findmax(elements::AbstractVector)
    isempty(elements) && throw(ArgumentError("collection must be non-empty"))
    most = elements[firstindex(elements)]
    place = firstindex(elements)
    for at in eachindex(elements)
        element = elements[at]
        if most == most && (element != element || isless(most, element))
            most = element
            place = at
        end
    end
    return (most, place)
end

function findmin(elements::AbstractVector)
    isempty(elements) && throw(ArgumentError("collection must be non-empty"))
    least = elements[firstindex(elements)]
    place = firstindex(elements)
    for at in eachindex(elements)
        element = elements[at]
        if least == least && (element != element || isless(element, least))
            least = element
            place = at
        end
    end
    return (least, place)
end

function findmax(elements::AbstractMatrix)
    isempty(elements) && throw(ArgumentError("collection must be non-empty"))
    row = firstindex(elements, 1)
    column = firstindex(elements, 2)
    most = elements[row, column]
    for j in axes(elements, 2), i in axes(elements, 1)
        element = elements[i, j]
        if most == most && (element != element || isless(most, element))
            most = element
            row = i
            column = j
        end
    end
    return (most, CartesianIndex(row, column))
end

function findmin(elements::AbstractMatrix)
    isempty(elements) && throw(ArgumentError("collection must be non-empty"))
    row = firstindex(elements, 1)
    column = firstindex(elements, 2)
    least = elements[row, column]
    for j in axes(elements, 2), i in axes(elements, 1)
        element = elements[i, j]
        if least == least && (element != element || isless(element, least))
            least = element
            row = i
            column = j
        end
    end
    return (least, CartesianIndex(row, column))
end

argmax(elements::AbstractVecOrMat) = findmax(elements)[2]
argmin(elements::AbstractVecOrMat) = findmin(elements)[2]

# The place that halves what is left lies between both ends.
function searchsortedfirst(elements::AbstractVector, wanted)
    below = firstindex(elements) - 1
    above = lastindex(elements) + 1
    while below < above - 1
        middle = below + ((above - below) >>> 1)
        if isless(@inbounds(elements[middle]), wanted)
            below = middle
        else
            above = middle
        end
    end
    return above
end

function searchsortedlast(elements::AbstractVector, wanted)
    below = firstindex(elements) - 1
    above = lastindex(elements) + 1
    while below < above - 1
        middle = below + ((above - below) >>> 1)
        if isless(wanted, @inbounds(elements[middle]))
            above = middle
        else
            below = middle
        end
    end
    return below
end

function issorted(elements::AbstractVector)
    sorted = true
    for at in firstindex(elements)+1:lastindex(elements)
        if isless(elements[at], elements[at-1])
            sorted = false
        end
    end
    return sorted
end

function gcd(a::T, b::T) where {T<:Integer}
    a == typemin(a) && (b == 0 || b == typemin(b)) && typemin(a) != 0 && throw(OverflowError("gcd overflows"))
    b == typemin(b) && a == 0 && typemin(b) != 0 && throw(OverflowError("gcd overflows"))
    # Of zero and a number it is the number.
    x = a == 0 ? b : a
    y = b == 0 ? a : b
    twos = min(trailing_zeros(x), trailing_zeros(y))
    u = abs(x >> trailing_zeros(x))
    v = abs(y >> trailing_zeros(y))
    # Each turn takes a bit from one of the two at least.
    for turn in 1:128
        u == v && break
        if u > v
            u, v = v, u
        end
        v -= u
        v >>= trailing_zeros(v)
    end
    return u << twos
end

# A float does not hold all numbers. Below a square it may hold the square itself, and its root is too large then; it is never too small, and
# its square is an `Int`.
function isqrt(x::Int)
    x < 0 && throw(DomainError(x, "the square root of a negative integer"))
    root = unsafe_trunc(Int, sqrt(Float64(max(x, 0))))
    root * root > x ? root - 1 : root
end

# Rounding by a mode, or at digits behind the point.

function rounded_away(x::AbstractFloat)
    whole = trunc(x)
    return ifelse(x == whole, whole, trunc(2 * x - whole))
end

rounded_away(x::Integer) = x

rounded_from_zero(x) = ifelse(signbit(x), floor(x), ceil(x))

function rounded_up(x::T) where {T<:AbstractFloat}
    low = T(0.25) - eps(T) / 2
    high = T(0.25) + eps(T) / 2
    return copysign(floor((x + low) + high), x)
end

rounded_up(x::Integer) = x

function rounded_at(x, scale)
    value = float(x)
    rounded = round(value * oftype(value, scale)) / oftype(value, scale)
    return ifelse(isfinite(rounded), rounded, value)
end

function ceiled_at(x, scale)
    value = float(x)
    rounded = ceil(value * oftype(value, scale)) / oftype(value, scale)
    return ifelse(isfinite(rounded), rounded, value)
end

function floored_at(x, scale)
    value = float(x)
    rounded = floor(value * oftype(value, scale)) / oftype(value, scale)
    return ifelse(isfinite(rounded), rounded, value)
end

function truncated_at(x, scale)
    value = float(x)
    rounded = trunc(value * oftype(value, scale)) / oftype(value, scale)
    return ifelse(isfinite(rounded), rounded, value)
end
