# Arrays whose elements do not lie side by side, or whose subscripts do not count from 1: where their elements are.
#
# Julia's protocol for strided arrays decides: an array takes part whose chain of `parent`s ends in an `Array` and that
# has `strides` and an address. What a call needs beyond the types, it finds in the values: each combination of forms
# that turns up is compiled once.

# How an array lies in memory, as a request spells it.
@enum StrideForm::UInt8 DENSE UNIT_FIRST ALL_FREE

# An array argument as the compiled function's entry takes it.
struct Place
    data::Ptr{Cvoid}
    strides::StrideForm
    offset::Bool
    "extents, then the strides and first indices that the form leaves open"
    numbers::Vector{Int64}
    "whether the elements are in the GPU's memory"
    on_device::Bool
end

Place(data, strides, offset, numbers) = Place(data, strides, offset, numbers, false)

# Whether arrays of this type may have a place; the values decide.
may_have_place(T::Type) = T <: AbstractArray && !(T <: AbstractRange) && is_scalar(eltype(T)) && isconcretetype(T) && ndims(T) > 0

is_passable(T::Type) = is_callable(T) || may_have_place(T)
is_passable(T::Type{<:DeviceArray}) = eltype(T) <: Element && isconcretetype(eltype(T))

# The `Array` in whose memory the elements lie, or `nothing`.
function foundation(array::AbstractArray)
    while !(array isa Array)
        below = parent(array)
        below === array && return nothing
        array = below
    end
    return array
end

# The strides in elements, or `nothing` for an array without any.
function strides_of(array::AbstractArray)
    try
        return strides(array)
    catch failure
        failure isa Union{MethodError,ErrorException,ArgumentError} || rethrow()
        return nothing
    end
end

# The address of the element whose subscripts are the first ones.
address(array::AbstractArray{T}) where {T} = Ptr{Cvoid}(Base.unsafe_convert(Ptr{T}, array))
address(array::Array) = Ptr{Cvoid}(pointer(array))
address(array::Base.ReshapedArray) = address(parent(array))
address(array::PermutedDimsArray) = address(parent(array))

function address(array::SubArray)
    below = parent(array)
    steps = strides(below)
    distance = 0
    for (axis, index) in enumerate(parentindices(array))
        distance += (first(index) - first(axes(below, axis))) * steps[axis]
    end
    return address(below) + distance * sizeof(eltype(array))
end

# Where the elements of an array lie; `nothing` if that cannot be said.
function place(array::AbstractArray)
    on_device = device_place(array)
    on_device === nothing || return on_device
    is_array(typeof(array)) && eltype(array) <: ComplexScalar && return complex_place(array)
    may_have_place(typeof(array)) || return nothing
    base = foundation(array)
    base === nothing && return nothing
    steps = strides_of(array)
    steps === nothing && return nothing
    data = try
        address(array)
    catch failure
        failure isa Union{MethodError,ErrorException,ArgumentError} || rethrow()
        return nothing
    end
    extents = size(array)
    lies_inside(data, sizeof(eltype(array)), extents, steps, base) || return nothing
    rank = ndims(array)
    # An array whose `eachindex` gives `CartesianIndex`es never counts as one whose `eachindex` gives numbers.
    is_plain = rank == 1 || IndexStyle(array) isa IndexLinear
    form = is_plain && lies_dense(extents, steps) ? DENSE : rank > 1 && (steps[1] == 1 || extents[1] <= 1) ? UNIT_FIRST : ALL_FREE
    firsts = map(first, axes(array))
    offset = any(!isequal(1), firsts)
    numbers = Int64[extents...]
    form === DENSE || append!(numbers, form === UNIT_FIRST ? steps[2:end] : steps)
    offset && append!(numbers, firsts)
    return Place(data, form, offset, numbers)
end

# Complex arrays are taken where their type says that they are dense: halves along a leading axis of two.
complex_place(array::AbstractArray) = Place(address(array), DENSE, false, Int64[2, size(array)...])

# Whether strides are those of an `Array` of these extents; axes of one element have any.
function lies_dense(extents, steps)
    any(iszero, extents) && return true
    expected = 1
    for (extent, step) in zip(extents, steps)
        extent == 1 || step == expected || return false
        expected *= extent
    end
    return true
end

# Whether all elements lie in the memory of the `Array`: a wrapper whose strides say otherwise is no strided array.
function lies_inside(data::Ptr{Cvoid}, bytes::Int, extents, steps, base::Array)
    any(iszero, extents) && return true
    low = high = Int(data - Ptr{Cvoid}(pointer(base)))
    for (extent, step) in zip(extents, steps)
        span = Base.checked_mul(Base.checked_mul(extent - 1, Int(step)), bytes)
        low += min(span, 0)
        high += max(span, 0)
    end
    return low >= 0 && high + bytes <= sizeof(base)
end

# The array's type in a request.
function type_name(place::Place, T::Type, rank::Int)
    stored = place.strides === DENSE ? "Array{$T,$rank}" :
        place.strides === UNIT_FIRST ? "StridedArray{$T,$rank,1}" : "StridedArray{$T,$rank}"
    return place.offset ? "OffsetArray{$T,$rank,$stored}" : stored
end

# The types of arguments in a request, and the places of those that are arrays; no places if one array has none.
function places_of(arguments::Tuple)
    found = Any[argument isa AbstractArray ? place(argument) : missing for argument in arguments]
    return any(isnothing, found) ? nothing : found
end

type_names(arguments::Tuple, places) =
    String[place === missing ? type_name(typeof(argument)) : type_name(place, eltype(argument), ndims(argument))
           for (argument, place) in zip(arguments, places)]

# For each parameter of the entry, whether it is the address of an array in the GPU's memory; so many in all.
function device_flags(arguments::Tuple, places, count::Int)
    flags = UInt8[]
    for (argument, place) in zip(arguments, places)
        if place === missing
            append!(flags, zeros(UInt8, is_complex(typeof(argument)) ? 2 : 1))
        else
            push!(flags, place.on_device)
            append!(flags, zeros(UInt8, length(place.numbers)))
        end
    end
    return append!(flags, zeros(UInt8, count - length(flags)))
end

# What tells the compiled variants of a slot apart.
variant_key(places) = UInt8[place === missing ? 0xff : UInt8(place.strides) | UInt8(place.offset) << 4 for place in places]

# The values of the entry's parameters as words, their low bytes first.
function entry_words(arguments::Tuple, places)
    words = UInt64[]
    for (argument, place) in zip(arguments, places)
        if place === missing && is_complex(typeof(argument))
            push!(words, bits_of(real(argument)), bits_of(imag(argument)))
        elseif place === missing
            push!(words, bits_of(argument))
        else
            push!(words, UInt64(UInt(place.data)))
            append!(words, reinterpret(UInt64, place.numbers))
        end
    end
    return words
end
