# Arrays with elements left free after each column, plane and so on.

"""
    PaddedArray{T,N}

An array that [`padded`](@ref) made. `strides` shows what is left free.
"""
struct PaddedArray{T,N} <: AbstractArray{T,N}
    elements::Vector{T}
    extents::NTuple{N,Int}
    steps::NTuple{N,Int}
end

"""
    Tessella.padded(T, dims...; pads = 1 for each axis but the last)
    Tessella.padded(T, dims; pads)

A new array whose columns (planes, ...) lie `pads` elements further apart than they have to: `pads[k]` elements are left free
after what the first `k` axes hold. Compiled functions take it where it is, with its strides.

It has the elements, subscripts and results of an `Array`, but is no `StridedArray`, which is a fixed list of types. So Julia's linear algebra takes its
general methods, not BLAS and LAPACK: products take several times as long as those of `Array`s, and some factorizations (`svd`, `cholesky`, on Julia
1.5 `factorize`, too) have no method. `Matrix(A)` is a copy that they take. `vec(A)` and `reshape(A, dims)` are wrappers whose elements mostly have no
strides: plain Julia runs for them, with a warning.

Columns whose length is a power of two meet in few lines of the cache, and the neighbours of a stencil in few places of a
vector; `tessella model layout` says which pads bring them apart or together.

```julia
A = Tessella.padded(Float64, 1024, 1024)            # columns are 1025 elements apart
V = Tessella.padded(Float32, 64, 64, 64; pads = (4, 0))
```
"""
function padded(T::Type, dims::Integer...; pads = ntuple(_ -> 1, max(length(dims) - 1, 0)))
    isempty(dims) && throw(ArgumentError("an array without axes cannot be padded"))
    length(pads) == length(dims) - 1 || throw(ArgumentError("there is one pad for each axis but the last: $(length(dims) - 1), not $(length(pads))"))
    all(pad -> pad >= 0, pads) || throw(ArgumentError("pads are not negative"))
    all(extent -> extent >= 0, dims) || throw(ArgumentError("extents are not negative"))
    isconcretetype(T) && isbitstype(T) || throw(ArgumentError("elements of type $T do not lie side by side"))
    steps = Int[1]
    for (extent, pad) in zip(dims, pads)
        push!(steps, Base.checked_add(Base.checked_mul(last(steps), Int(extent)), Int(pad)))
    end
    total = Base.checked_mul(steps[end], Int(dims[end]))
    return PaddedArray{T,length(dims)}(Vector{T}(undef, total), map(Int, dims), Tuple(steps))
end

padded(T::Type, dims::Tuple{Vararg{Integer}}; keywords...) = padded(T, dims...; keywords...)

Base.size(array::PaddedArray) = array.extents
Base.strides(array::PaddedArray) = array.steps
Base.stride(array::PaddedArray, axis::Int) = axis < 1 ? 1 : axis <= ndims(array) ? array.steps[axis] : length(array.elements)
Base.parent(array::PaddedArray) = array.elements
Base.elsize(::Type{<:PaddedArray{T}}) where {T} = sizeof(T)
Base.unsafe_convert(::Type{Ptr{T}}, array::PaddedArray{T}) where {T} = pointer(array.elements)
Base.IndexStyle(::Type{<:PaddedArray}) = IndexCartesian()
Base.dataids(array::PaddedArray) = Base.dataids(array.elements)
# What an assignment reads while it writes the same array.
Base.unaliascopy(array::PaddedArray) = typeof(array)(copy(array.elements), array.extents, array.steps)

# What is read may be overwritten before, as in an `Array`.
Base.copyto!(to::PaddedArray, at::Integer, from::PaddedArray, start::Integer, count::Integer) =
    invoke(copyto!, Tuple{AbstractArray,Integer,AbstractArray,Integer,Integer}, to, at, Base.unalias(to, from), start, count)

# The general method factorizes first, which Julia 1.5 cannot.
Base.inv(array::PaddedArray{T,2}) where {T} = inv(Matrix(array))

# Where an element lies among `elements`.
position(array::PaddedArray{T,N}, at::NTuple{N,Int}) where {T,N} = 1 + sum(map((index, step) -> (index - 1) * step, at, array.steps))

Base.@propagate_inbounds function Base.getindex(array::PaddedArray{T,N}, at::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(array, at...)
    return @inbounds array.elements[position(array, at)]
end

Base.@propagate_inbounds function Base.setindex!(array::PaddedArray{T,N}, value, at::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(array, at...)
    @inbounds array.elements[position(array, at)] = value
    return array
end
