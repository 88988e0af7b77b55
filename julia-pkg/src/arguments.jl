# Which Julia values compiled code takes, and how they are handed over.

const Scalar = Union{Bool,Int8,Int16,Int32,Int64,UInt8,UInt16,UInt32,UInt64,Float32,Float64}

# Views whose elements lie side by side whatever the values are. Other arrays are looked at by value: see strided.jl.
const PlainRange = Union{UnitRange{Int},Base.OneTo{Int},Base.Slice{Base.OneTo{Int}}}
const View = SubArray{T,N,P,I,true} where {T,N,P,I<:Tuple{PlainRange,Vararg{Union{Int,PlainRange}}}}

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

# The type's name in a request. What compiled code cannot take goes by its own name, for the compiler to refuse; of an
# array whose form the values tell, the type says no more than that it has strides.
type_name(T::Type) = is_array(T) ? "Array{$(eltype(T)),$(ndims(T))}" :
    may_have_place(T) ? "StridedArray{$(eltype(T)),$(ndims(T))}" : string(T)
type_name(T::Type{<:DeviceArray}) = "Array{$(eltype(T)),$(ndims(T))}"
type_name(T::Type{<:Array}) = "Array{$(eltype(T)),$(ndims(T))}"

type_names(types::Type{<:Tuple}) = String[type_name(T) for T in types.parameters]

c_type(::Type{Bool}) = UInt8
c_type(::Type{T}) where {T<:Scalar} = T

const SCALAR_TYPES = Dict{String,DataType}(string(T) => T for T in Base.uniontypes(Scalar))

# Argument `position`'s name, for messages.
function argument_name(definition::Definition, position::Int)
    return position <= length(definition.parameters) ? "`$(definition.parameters[position])`" : "argument $position"
end

# Why an argument of this type cannot be handed over although its elements could; `nothing` if it can.
function irregularity(definition::Definition, position::Int, type::Type)
    type <: AbstractArray && eltype(type) <: Element || return nothing
    is_on_device(type) && return """
    error[E0773]: $(argument_name(definition, position)) of `$(definition.name)` lies in the GPU's memory in no order that a function can use
      = note: its type is $type
      = help: pass a `DeviceArray`, or a view of elements side by side such as `view(d, :, 3)`; `to_device(transpose(Array(d)))` and
        `to_device(view(Array(d), 1:2, :))` make copies"""
    wanted = eltype(type) <: ComplexScalar ? "an `Array` or a view of a range of a vector, such as `view(x, 2:n)`" :
        "an `Array`, or an array with `parent` and `strides` such as a view"
    return """
    error[E0773]: $(argument_name(definition, position)) of `$(definition.name)` does not lie in the memory of an `Array`
      = note: its type is $type
      = help: pass $wanted; `collect` makes a copy"""
end

# Whether an array of this type consists of elements of a `DeviceArray`.
is_on_device(type::Type) = type <: DeviceArray || type isa DataType && any(part -> part isa Type && is_on_device(part), type.parameters)

# Why these arguments, one of which is no place in memory, are refused.
function unplaced(definition::Definition, values)
    position = findfirst(value -> value isa AbstractArray && place(value) === nothing, values)::Int
    type = typeof(values[position])
    reason = irregularity(definition, position, type)
    reason === nothing || return TessellaError(reason, ["E0773"], :refused)
    return TessellaError("""
        error[E0290]: $(argument_name(definition, position)) of `$(definition.name)` has elements that cannot be compiled
          = note: its type is $type
          = help: pass arrays of `Bool`, integers, `Float32`, `Float64` or complex numbers of these""", ["E0290"], :refused)
end
