# New arrays and tuples that compiled code gives back. The entry is called twice: for the extents of the arrays, then,
# with memory for them, to compute. What is given back is a type, so that the generated code for it knows all types.

# A part of a result.
struct NewArray{T,N} end
struct NewScalar{T} end
"an array of complex numbers, whose halves of type `T` lie along an axis of their own before its `N`"
struct NewComplexArray{T,N} end
"a part that has been given back before: the number of its place, from 0"
struct Again{K} end
"an argument, by its position from 1"
struct SameArgument{P} end

"a complex number, of a tuple of its halves"
struct NewComplex{H<:Tuple} end

"one of several results `P`, whose number, from 0, is the scalar `S`"
struct NewOneOf{S,P<:Tuple} end

"a named tuple, of a tuple of its parts"
struct NewNamed{Names,P<:Tuple} end

# What the function gives back: one of the above, `Nothing`, or a `Tuple` of such types.
struct Plan{P} end

# `types` are those of the arguments.
Plan(text::AbstractString, types) = Plan{first(parse_part(text, types))}()

# A part at the start of the text `(array Float64 2, argument 0)`, and what follows it.
function parse_part(text::AbstractString, types)
    if startswith(text, "complex(")
        halves, rest = parse_part(SubString(text, 1 + ncodeunits("complex")), types)
        return NewComplex{halves}, rest
    end
    if startswith(text, "oneof(")
        parts, rest = parse_part(SubString(text, 1 + ncodeunits("oneof")), types)
        position, options = first(parts.parameters), Base.tail((parts.parameters...,))
        return NewOneOf{position,Tuple{options...}}, rest
    end
    if startswith(text, "named ")
        open = findfirst('(', text)
        names = Tuple(Symbol.(split(SubString(text, 1 + ncodeunits("named "), prevind(text, open)))))
        parts, rest = parse_part(SubString(text, open), types)
        return NewNamed{names,parts}, rest
    end
    if startswith(text, '(')
        parts, rest = Any[], SubString(text, 2)
        while !startswith(rest, ')')
            part, rest = parse_part(rest, types)
            push!(parts, part)
            startswith(rest, ", ") && (rest = SubString(rest, 3))
        end
        return Tuple{parts...}, SubString(rest, 2)
    end
    stop = something(findfirst(in(",)"), text), lastindex(text) + 1)
    words = split(SubString(text, 1, stop - 1))
    number(at) = parse(Int, words[at])
    part = words[1] == "array" ? NewArray{SCALAR_TYPES[words[2]],number(3)} :
        words[1] == "complexarray" ? NewComplexArray{SCALAR_TYPES[words[2]],number(3)} :
        words[1] == "scalar" ? NewScalar{SCALAR_TYPES[words[2]]} :
        words[1] == "again" ? Again{number(2)} :
        words[1] == "argument" ? SameArgument{owner(types, number(2) + 1)} : Nothing
    return part, SubString(text, stop)
end

# The parts that need memory, in the order of the entry's parameters.
places(::Type{T}) where {T<:Union{NewArray,NewComplexArray,NewScalar}} = Any[T]
places(::Type{T}) where {T<:Tuple} = reduce(append!, map(places, collect(Any, T.parameters)); init = Any[])
places(::Type{NewComplex{H}}) where {H} = places(H)
places(::Type{NewNamed{Names,P}}) where {Names,P} = places(P)
places(::Type{NewOneOf{S,P}}) where {S,P} = append!(places(S), places(P))
places(::Type) = Any[]

# How many extents the entry tells, and how many of them, at the start, are of halves.
rank(::Type{NewArray{T,N}}) where {T,N} = N
rank(::Type{NewComplexArray{T,N}}) where {T,N} = N + 1
count_of_halves(::Type{<:NewComplexArray}) = 1
count_of_halves(::Type) = 0
rank(::Type{<:NewScalar}) = 0

place_type(::Type{NewArray{T,N}}) where {T,N} = Array{T,N}
place_type(::Type{NewComplexArray{T,N}}) where {T,N} = Array{Complex{T},N}
place_type(::Type{NewScalar{T}}) where {T} = T

is_new_array(place) = place <: Union{NewArray,NewComplexArray}

# The type of what is given back for arguments of these types.
result_type(::Plan{P}, types) where {P} = part_type(P, places(P), types)

part_type(::Type{T}, known, types) where {T<:Union{NewArray,NewComplexArray,NewScalar}} = place_type(T)
part_type(::Type{Again{K}}, known, types) where {K} = place_type(known[K+1])
part_type(::Type{SameArgument{P}}, known, types) where {P} = types.parameters[P]
part_type(::Type{NewComplex{H}}, known, types) where {H} = Complex{part_type(H.parameters[1], known, types)}
part_type(::Type{NewNamed{Names,P}}, known, types) where {Names,P} = NamedTuple{Names,part_type(P, known, types)}
part_type(::Type{NewOneOf{S,P}}, known, types) where {S,P} =
    Union{(part_type(part, known, types) for part in P.parameters)...}
part_type(::Type{Nothing}, known, types) = Nothing
part_type(::Type{T}, known, types) where {T<:Tuple} = Tuple{(part_type(part, known, types) for part in T.parameters)...}

halves_of(::Type{NewComplex{H}}) where {H} = collect(Any, H.parameters)

# An expression for the result: `values` are expressions for the places' values, `arguments` for the arguments.
function result_expression(P, values, arguments)
    next = Ref(0)
    function expression(part)
        part <: NewComplex && return Expr(:call, Complex, map(expression, halves_of(part))...)
        part <: NewNamed && return Expr(:call, NamedTuple{part.parameters[1]}, expression(part.parameters[2]))
        if part <: NewOneOf
            position = expression(part.parameters[1])
            options = map(expression, collect(Any, part.parameters[2].parameters))
            numbered = collect(enumerate(options))
            return foldr((one, others) -> :($position == $(first(one) - 1) ? $(last(one)) : $others), numbered[1:end-1];
                         init = options[end])
        end
        part <: Tuple && return Expr(:tuple, map(expression, collect(Any, part.parameters))...)
        part <: Union{NewArray,NewComplexArray,NewScalar} && return values[next[] += 1]
        part <: Again && return values[first(part.parameters)+1]
        part <: SameArgument && return arguments[first(part.parameters)]
        return nothing
    end
    return expression(P)
end

# A call of the C entry.
@generated function give(::Plan{P}, slot, original, arguments...) where {P}
    given = [:(arguments[$at]) for at in 1:length(arguments)]
    c_types, c_values = handover(given, arguments)
    all = places(P)
    count = sum(Int[rank(place) for place in all])
    names = [Symbol("place", at) for at in 1:length(all)]
    pointers = [Ptr{is_new_array(place) ? eltype(place_type(place)) : place_type(place)} for place in all]
    values = [is_new_array(place) ? name : :($name[]) for (place, name) in zip(all, names)]
    made, at = Expr[], 0
    for (place, name) in zip(all, names)
        if is_new_array(place)
            sizes = (:(extents[$(at + axis)]) for axis in 1+count_of_halves(place):rank(place))
            push!(made, :($name = $(place_type(place))(undef, $(sizes...))))
            at += rank(place)
        else
            push!(made, :($name = Ref{$(place_type(place))}()))
        end
    end
    sizes_type = count == 0 ? Any[] : Any[Ptr{Int64}]
    ask = count == 0 ? nothing : quote
        sizes = Ref{NTuple{$count,Int64}}()
        code = GC.@preserve arguments sizes ccall(
            slot.entry, Int32, ($(c_types...), $(pointers...), Ptr{Int64}), $(c_values...),
            $((C_NULL for _ in all)...), Ptr{Int64}(Base.unsafe_convert(Ptr{NTuple{$count,Int64}}, sizes)))
        code == 0 || return failed(slot, original, code, arguments...)
        extents = sizes[]
    end
    null = count == 0 ? Any[] : Any[C_NULL]
    return quote
        $ask
        $(made...)
        code = GC.@preserve arguments ccall(slot.entry, Int32, ($(c_types...), $(pointers...), $(sizes_type...)),
                                            $(c_values...), $(names...), $(null...))
        code == 0 || return failed(slot, original, code, arguments...)
        return $(result_expression(P, values, given))
    end
end

# A launch; `words` hold the arguments, one for each parameter of the entry.
function give_by_launch(plan::Plan{P}, slot, compiled, original, words::Vector{UInt64}, places, arguments::Tuple) where {P}
    compute(pointers, on_device) = launch(compiled.program, pointers, on_device)
    made, code = fill_places(plan, compiled.program, words, places, arguments, compute)
    code == 0 || return failed(slot, compiled, original, code, arguments...)
    return assemble(P, Any[one isa Array ? one : one[] for one in made], arguments)
end

# Makes memory for what is given back, and fills it by `compute`, which takes pointers to the words and says which are
# addresses on the device: the memory, and the code. The program itself tells the extents of new arrays.
function fill_places(::Plan{P}, program, words::Vector{UInt64}, where_they_are, arguments::Tuple, compute) where {P}
    all = places(P)
    made = Any[place <: NewScalar ? Ref{place_type(place)}() : nothing for place in all]
    word(one) = one === nothing ? UInt64(0) : UInt64(UInt(one isa Array ? pointer(one) : pointer_from_objref(one)))
    before = length(words)
    append!(words, UInt64[word(one) for one in made])
    extents = zeros(Int64, sum(Int[rank(place) for place in all]))
    isempty(extents) || push!(words, UInt64(UInt(pointer(extents))))
    on_device = device_flags(arguments, where_they_are, length(words))
    run(how) = GC.@preserve arguments words made extents how(Ptr{Cvoid}[pointer(words, at) for at in eachindex(words)],
                                                             on_device)
    if !isempty(extents)
        code = run((pointers, on_device) -> launch(program, pointers, on_device))
        code == 0 || return made, code
        at = 0
        for (number, place) in enumerate(all)
            is_new_array(place) || continue
            made[number] = place_type(place)(undef, extents[at+1+count_of_halves(place):at+rank(place)]...)
            words[before+number] = word(made[number])
            at += rank(place)
        end
        words[end] = 0
    end
    return made, run(compute)
end

# The result out of the places' values.
function assemble(P, values::Vector{Any}, arguments::Tuple)
    next = Ref(0)
    function part(T)
        T <: NewComplex && return Complex(Any[part(half) for half in halves_of(T)]...)
        T <: NewNamed && return NamedTuple{T.parameters[1]}(part(T.parameters[2]))
        if T <: NewOneOf
            position = part(T.parameters[1])
            options = Any[part(option) for option in T.parameters[2].parameters]
            return options[position+1]
        end
        T <: Tuple && return Tuple(Any[part(inner) for inner in T.parameters])
        T <: Union{NewArray,NewComplexArray,NewScalar} && return values[next[] += 1]
        T <: Again && return values[first(T.parameters)+1]
        T <: SameArgument && return arguments[first(T.parameters)]
        return nothing
    end
    return part(P)
end
