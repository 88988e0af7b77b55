# Arrays that stay in the GPU's memory between calls.

"""
    DeviceArray{T,N}

An array in the memory of the GPU, made by [`to_device`](@ref). Functions of `@tessella target=:cuda` use it where it is,
and copy nothing. `Array(d)` and `copyto!` bring elements back. One element at a time is refused, since each would be
a copy of its own; see [`allow_scalars`](@ref). `reshape`, `vec`, and views of elements that lie side by side, such as
`view(d, :, 3)`, share its memory and are arguments, too; `Array`, `collect`, `copyto!` and `fill!` take any view of it. Its memory is freed when Julia finds it unused, or by
[`free!`](@ref).
"""
mutable struct DeviceArray{T,N} <: AbstractArray{T,N}
    # C_NULL once it is freed, and where the memory is that of another array.
    memory::Ptr{Cvoid}
    extents::NTuple{N,Int}
    library::Library
    # The array whose memory this one uses, if that is another one.
    owner::Union{Nothing,DeviceArray{T}}
    # Keeps the constructor from users: the memory belongs to the array.
    function DeviceArray{T,N}(library::Library, extents::NTuple{N,Int}) where {T,N}
        T <: Element && isconcretetype(T) || throw(ArgumentError("a DeviceArray holds numbers, not $T"))
        bytes = byte_count(T, extents)
        memory = ccall(library.memory.allocate, Ptr{Cvoid}, (UInt64,), bytes)
        if memory == C_NULL
            # Arrays that nobody uses any more make room.
            GC.gc()
            memory = ccall(library.memory.allocate, Ptr{Cvoid}, (UInt64,), bytes)
        end
        memory == C_NULL && throw_memory_failure(library)
        return finalizer(free!, new{T,N}(memory, extents, library, nothing))
    end
    # The elements of another array in another shape.
    DeviceArray{T,N}(owner::DeviceArray{T}, extents::NTuple{N,Int}) where {T,N} =
        new{T,N}(C_NULL, extents, owner.library, something(owner.owner, owner))
end

function byte_count(T, extents)
    bytes = sizeof(T)
    for extent in extents
        bytes, overflow = Base.Checked.mul_with_overflow(bytes, extent)
        overflow && throw(OverflowError("the bytes of the array pass 64 bits"))
    end
    return UInt64(bytes)
end

@noinline function throw_memory_failure(library::Library)
    words = unsafe_string(ccall(library.memory.failure, Ptr{UInt8}, ()))
    throw(TessellaError(rstrip(words), codes_in(words), :tool_chain))
end

"""
    to_device(A)

A copy of `A` in the memory of the GPU: a [`DeviceArray`](@ref). Throws a [`TessellaError`](@ref) where there is no GPU, or
no room; it says how many bytes are missing.
"""
to_device(A::Array{T,N}) where {T,N} = copyto!(DeviceArray{T,N}(library(), size(A)), A)
to_device(A::AbstractArray{T,N}) where {T,N} = to_device(collect(A)::Array{T,N})
to_device(d::DeviceArray) = d

"""
    free!(d::DeviceArray)

Gives the memory of `d` back now. `d` cannot be used any more, nor can what shares its memory.
"""
function free!(d::DeviceArray)
    d.owner === nothing || return free!(d.owner)
    memory, d.memory = d.memory, C_NULL
    memory == C_NULL || ccall(d.library.memory.free, Cvoid, (Ptr{Cvoid},), memory)
    return nothing
end

"""
    Tessella.device_memory()

A named tuple of bytes of the GPU's memory: `held` by `DeviceArray`s that are not freed, `free`, and `total`. Throws a
[`TessellaError`](@ref) where there is no GPU.
"""
function device_memory()
    opened = library()
    held, free, total = Ref{UInt64}(0), Ref{UInt64}(0), Ref{UInt64}(0)
    code = ccall(opened.memory.state, Int32, (Ref{UInt64}, Ref{UInt64}, Ref{UInt64}), held, free, total)
    code == 0 || throw_memory_failure(opened)
    return (held = Int(held[]), free = Int(free[]), total = Int(total[]))
end

# The memory, of an array that is not freed.
memory_of(d::DeviceArray) = d.owner === nothing ? own_memory(d) : own_memory(d.owner)

function own_memory(d::DeviceArray)
    d.memory == C_NULL && throw(TessellaError(
        """
        error[E0711]: a `DeviceArray` is used after its memory was freed
          = help: make it anew with `to_device`, or call `free!` later""",
        ["E0711"], :refused))
    return d.memory
end

# --- an array to Julia ------------------------------------------------------------------------------------------------

Base.size(d::DeviceArray) = d.extents
Base.IndexStyle(::Type{<:DeviceArray}) = IndexLinear()
Base.sizeof(d::DeviceArray{T}) where {T} = Int(byte_count(T, d.extents))

Base.similar(::DeviceArray, ::Type{T}, extents::NTuple{N,Int}) where {T,N} = DeviceArray{T,N}(library(), extents)
Base.copy(d::DeviceArray) = copyto!(similar(d), d)
# Memory has one owner: a copy of the fields would free it twice.
Base.deepcopy_internal(d::DeviceArray, seen::IdDict) = get!(() -> copy(d), seen, d)
function Base.reshape(d::DeviceArray{T}, extents::NTuple{N,Int}) where {T,N}
    any(<(0), extents) && throw(ArgumentError("invalid Array dimensions"))
    prod(extents) == length(d) ||
        throw(DimensionMismatch("$(join(size(d), '×')) elements do not make an array of $(join(extents, '×'))"))
    return DeviceArray{T,N}(d, extents)
end
Base.reshape(d::DeviceArray, extents::Tuple{Vararg{Union{Int,Colon}}}) = reshape(d, Base._reshape_uncolon(d, extents))
Base.vec(d::DeviceArray) = reshape(d, (length(d),))
Base.zero(d::DeviceArray{T}) where {T} = fill!(similar(d), zero(T))
Base.Array(d::DeviceArray{T,N}) where {T,N} = copyto!(Array{T,N}(undef, size(d)), d)
Base.Array{T}(d::DeviceArray{T,N}) where {T,N} = Array(d)
Base.Array{T,N}(d::DeviceArray{T,N}) where {T,N} = Array(d)
Base.collect(d::DeviceArray) = Array(d)

Base.copyto!(to::DeviceArray{T}, from::Array{T}) where {T} = (check_fits(to, from); copyto!(to, 1, from, 1, length(from)))
Base.copyto!(to::Array{T}, from::DeviceArray{T}) where {T} = (check_fits(to, from); copyto!(to, 1, from, 1, length(from)))

function Base.copyto!(to::DeviceArray{T}, start::Integer, from::Array{T}, first::Integer, count::Integer) where {T}
    check_range(to, start, from, first, count) || return to
    code = GC.@preserve to from ccall(to.library.memory.write, Int32, (Ptr{Cvoid}, UInt64, Ptr{T}, UInt64), memory_of(to),
                                      (start - 1) * sizeof(T), pointer(from, first), count * sizeof(T))
    code == 0 || throw_memory_failure(to.library)
    return to
end

function Base.copyto!(to::Array{T}, start::Integer, from::DeviceArray{T}, first::Integer, count::Integer) where {T}
    check_range(to, start, from, first, count) || return to
    code = GC.@preserve to from ccall(from.library.memory.read, Int32, (Ptr{Cvoid}, UInt64, Ptr{T}, UInt64), memory_of(from),
                                      (first - 1) * sizeof(T), pointer(to, start), count * sizeof(T))
    code == 0 || throw_memory_failure(from.library)
    return to
end

# Through the host, since the library copies whole arrays on the device.
Base.copyto!(to::DeviceArray{T}, start::Integer, from::DeviceArray{T}, first::Integer, count::Integer) where {T} =
    copyto!(to, start, copyto!(Vector{T}(undef, max(count, 0)), 1, from, first, count), 1, count)

# Whether there is anything to copy: all of it lies inside, or nothing is copied.
function check_range(to, start, from, first, count)
    count < 0 && throw(ArgumentError("tried to copy $count elements, but the number of elements must not be negative"))
    count == 0 && (memory_of(to isa DeviceArray ? to : from); return false)
    checkbounds(to, start:start+count-1)
    checkbounds(from, first:first+count-1)
    return true
end

# Elements that are filled at a time.
const FILLED = 2^20

Base.fill!(d::DeviceArray, value) = (fill_range!(d, 1:length(d), value); d)

function fill_range!(d::DeviceArray{T}, range::UnitRange{Int}, value) where {T}
    some = fill(convert(T, value), min(FILLED, length(range)))
    for start in first(range):FILLED:last(range)
        copyto!(d, start, some, 1, min(FILLED, last(range) - start + 1))
    end
end

"A view of elements that lie side by side on the device."
const DeviceView{T,N} = Base.FastContiguousSubArray{T,N,<:DeviceArray{T}}

first_of(view::DeviceView) = Base.first_index(view)
Base.Array(view::DeviceView{T,N}) where {T,N} = copyto!(Array{T,N}(undef, size(view)), 1, parent(view), first_of(view), length(view))
Base.collect(view::DeviceView) = Array(view)
Base.copyto!(to::DeviceView{T}, from::Array{T}) where {T} =
    (check_fits(to, from); copyto!(parent(to), first_of(to), from, 1, length(from)); to)

function Base.copyto!(to::DeviceArray{T}, from::DeviceArray{T}) where {T}
    check_fits(to, from)
    code = GC.@preserve to from ccall(to.library.memory.copy, Int32, (Ptr{Cvoid}, Ptr{Cvoid}, UInt64),
                                      memory_of(to), memory_of(from), sizeof(from))
    code == 0 || throw_memory_failure(to.library)
    return to
end

"Any view of an array on the device. Where its elements do not lie side by side, they are copied with all of the array."
const DevicePart{T,N} = SubArray{T,N,<:DeviceArray{T}}

Base.Array(part::DevicePart) = Array(on_host(part))
Base.collect(part::DevicePart) = Array(part)
Base.copyto!(to::DevicePart{T}, from::Array{T}) where {T} = on_host!(host -> copyto!(host, from), to)
Base.fill!(to::DeviceView, value) = (fill_range!(parent(to), first_of(to):first_of(to)+length(to)-1, value); to)
Base.fill!(to::DevicePart, value) = on_host!(host -> fill!(host, value), to)

# The same elements of a copy of the array.
on_host(part::DevicePart, whole = Array(parent(part))) = view(whole, parentindices(part)...)

function on_host!(change, part::DevicePart)
    whole = Array(parent(part))
    change(on_host(part, whole))
    copyto!(parent(part), whole)
    return part
end

# From other element types, other arrays and other places on the device: through the host.
Base.copyto!(to::Union{DeviceArray{T},DevicePart{T}}, from::AbstractArray) where {T} = copyto!(to, convert(Array{T}, collect(from)))
Base.copyto!(to::Union{DeviceArray{T},DevicePart{T}}, from::Union{DeviceArray,DevicePart}) where {T} =
    copyto!(to, convert(Array{T}, Array(from)))
Base.copyto!(to::AbstractArray, from::Union{DeviceArray,DevicePart}) = copyto!(to, Array(from))

check_fits(to, from) = length(from) <= length(to) || throw(BoundsError(to, length(from)))

const SCALARS_ALLOWED = Ref(0)

"""
    Tessella.allow_scalars(f)

Runs `f()` with `d[i]` and `d[i] = x` of a [`DeviceArray`](@ref) allowed, each of which is a copy of its own: for tests and
a look at a few elements.
"""
function allow_scalars(f)
    SCALARS_ALLOWED[] += 1
    try
        return f()
    finally
        SCALARS_ALLOWED[] -= 1
    end
end

@noinline throw_scalar() = throw(TessellaError(
    """
    error[E0710]: a `DeviceArray` is read or written element by element
      = note: its elements are in the GPU's memory: each would be a copy of its own
      = help: use `Array(d)`, a function of `@tessella target=:cuda`, or `Tessella.allow_scalars() do ... end`""",
    ["E0710"], :refused))

# What follows must not tell inference that it never returns: results of functions that index would have no type.
function Base.getindex(d::DeviceArray{T}, i::Int) where {T}
    SCALARS_ALLOWED[] > 0 || throw_scalar()
    checkbounds(d, i)
    element = Ref{T}()
    code = GC.@preserve d element ccall(d.library.memory.read, Int32, (Ptr{Cvoid}, UInt64, Ptr{T}, UInt64), memory_of(d),
                                        (i - 1) * sizeof(T), Base.unsafe_convert(Ptr{T}, element), sizeof(T))
    code == 0 || throw_memory_failure(d.library)
    return element[]
end

function Base.setindex!(d::DeviceArray{T}, value, i::Int) where {T}
    SCALARS_ALLOWED[] > 0 || throw_scalar()
    checkbounds(d, i)
    element = Ref{T}(convert(T, value))
    code = GC.@preserve d element ccall(d.library.memory.write, Int32, (Ptr{Cvoid}, UInt64, Ptr{T}, UInt64), memory_of(d),
                                        (i - 1) * sizeof(T), Base.unsafe_convert(Ptr{T}, element), sizeof(T))
    code == 0 || throw_memory_failure(d.library)
    return d
end

Base.show(io::IO, d::DeviceArray{T,N}) where {T,N} = print(io, "DeviceArray{", T, ",", N, "}(", join(size(d), '×'), ")")
Base.show(io::IO, ::MIME"text/plain", d::DeviceArray{T}) where {T} =
    print(io, join(size(d), '×'), " DeviceArray{", T, "} in the GPU's memory", is_freed(d) ? ", freed" : "")

is_freed(d::DeviceArray) = something(d.owner, d).memory == C_NULL

# --- as an argument ---------------------------------------------------------------------------------------------------

"""
    Tessella.device_pointer(x)

The address in the GPU's memory of the first element of an array that lives there, as a `Ptr{Cvoid}`; `nothing` for all
other arrays. Packages for GPU arrays add a method for their type, and so have them taken by functions of
`@tessella target=:cuda` where they are. The contract:

- the elements lie side by side in column-major order, subscripts count from 1, and `size(x)` gives the extents;
- the memory belongs to the primary context of the first GPU, and lives as long as `x`;
- when the method returns, all work on `x` that was started before is done; Tessella's own work on it is done when the call
  returns;
- `eltype(x)` is one of the number types that an `Array` argument may have, complex ones excluded.
"""
device_pointer(::Any) = nothing
device_pointer(d::DeviceArray) = Ptr{Cvoid}(UInt(ccall(d.library.memory.address, UInt64, (Ptr{Cvoid},), memory_of(d))))
device_pointer(view::DeviceView{T}) where {T} = device_pointer(parent(view)) + (first_of(view) - 1) * sizeof(T)

# Where the elements of an array on the device lie; `nothing` for one on the host.
function device_place(array::AbstractArray)
    data = device_pointer(array)
    data === nothing && return nothing
    halves = eltype(array) <: ComplexScalar ? (2,) : ()
    return Place(Ptr{Cvoid}(data), DENSE, false, Int64[halves..., size(array)...], true)
end

# Says that a program for the CPU cannot use arrays on the device.
function refuse_device_arrays(known, arguments, places)
    known.target === :cuda && return nothing
    position = findfirst(place -> place !== missing && place.on_device, places)
    position === nothing && return nothing
    throw(TessellaError(
        """
        error[E0709]: $(argument_name(known, position)) of `$(known.name)` is in the GPU's memory, and the function runs on the CPU
          = note: its target is :$(known.target)
          = help: define it with `@tessella target=:cuda`, or pass `Array(...)`""",
        ["E0709"], :refused))
end
