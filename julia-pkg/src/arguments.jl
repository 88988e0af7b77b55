# Which Julia values compiled code takes, and how they are handed over.

const Scalar = Union{Bool,Int8,Int16,Int32,Int64,UInt8,UInt16,UInt32,UInt64,Float32,Float64}

# Views whose elements may lie side by side, as seen by type; `is_contiguous` sees by value.
const View = SubArray{T,N,P,I} where {T,N,P,I<:Tuple{Vararg{Union{Int,AbstractRange{Int},Base.Slice}}}}

# A complex number is handed over as two numbers, an array of them as an array of halves with a leading axis of two.
const ComplexScalar = Union{ComplexF32,ComplexF64}
const Element = Union{Scalar,ComplexScalar}

is_array(::Type{<:Array{T}}) where {T} = T <: Element && isconcretetype(T)
is_array(::Type{<:SubArray}) = false
is_array(::Type{<:View{T,N,P}}) where {T,N,P} = is_array(P)
is_array(::Type) = false

is_scalar(::Type{T}) where {T} = T <: Scalar && isconcretetype(T)
is_scalar(::Type{Union{}}) = false

is_complex(::Type{T}) where {T} = T <: ComplexScalar && isconcretetype(T)
is_complex(::Type{Union{}}) = false

is_callable(::Type{T}) where {T} = is_scalar(T) || is_complex(T) || is_array(T)

# Which argument the entry's argument `position` belongs to, both from 1.
function owner(types, position::Int)
    for (at, type) in enumerate(types)
        position -= is_complex(type) ? 2 : 1
        position <= 0 && return at
    end
    return length(types) + 1
end

# Whether the elements lie side by side in column-major order.
is_contiguous(::Array) = true

function is_contiguous(array::AbstractArray)
    expected = 1
    for axis in 1:ndims(array)
        size(array, axis) <= 1 || stride(array, axis) == expected || return length(array) == 0
        expected *= size(array, axis)
    end
    return true
end

is_contiguous(_) = true

# The type's name in a request. What compiled code cannot take goes by its own name, for the compiler to refuse.
type_name(T::Type) = is_array(T) ? "Array{$(eltype(T)),$(ndims(T))}" : string(T)
type_name(T::Type{<:Array}) = "Array{$(eltype(T)),$(ndims(T))}"

type_names(types) = String[type_name(T) for T in types.parameters]

c_type(::Type{Bool}) = UInt8
c_type(::Type{T}) where {T<:Scalar} = T

const SCALAR_TYPES = Dict{String,DataType}(string(T) => T for T in Base.uniontypes(Scalar))

# Argument `position`'s name, for messages.
function argument_name(definition::Definition, position::Int)
    return position <= length(definition.parameters) ? "`$(definition.parameters[position])`" : "argument $position"
end

# Why an argument of this type or value cannot be handed over although its elements could; `nothing` if it can.
function irregularity(definition::Definition, position::Int, type::Type, contiguous::Bool)
    type <: AbstractArray && eltype(type) <: Element || return nothing
    is_array(type) && contiguous && return nothing
    return """
    error[E0773]: $(argument_name(definition, position)) of `$(definition.name)` is not a dense array
      = note: its type is $type$(contiguous ? "" : ", and its elements do not lie side by side")
      = help: pass an `Array`, or a view of whole leading axes such as `view(A, :, 1:n)`; `collect` makes a copy"""
end
