# What a function needs of its module: the functions that it calls, with their sources, and the constants that it reads.
#
# The compiler inlines the functions, so a compiled function holds what they were when it was compiled. They are looked up
# again whenever an epoch begins: `Tessella.refresh!()` after a change of one of them alone.

struct ConstantValue
    name::String
    type::String
    value::String
end

struct Surroundings
    helpers::Vector{SourceText}
    constants::Vector{ConstantValue}
    "arrays among the constants, each with a copy of what it held"
    tables::Vector{Tuple{Array,Array}}
end

surroundings_key(found::Surroundings) =
    hash(([(helper.text, helper.file, helper.line) for helper in found.helpers],
          [(constant.name, constant.type, constant.value) for constant in found.constants]))

function surroundings(known::Definition)
    home = parentmodule(known.original)
    found = Surroundings(SourceText[], ConstantValue[], Tuple{Array,Array}[])
    seen = Set{Tuple{Module,Symbol}}()
    definition = first(parse_at(known.source.text, 1))
    look_around!(found, seen, Dict{Symbol,Any}(), definition, home, known.name)
    return found
end

# Adds what `expression`, written in `home`, needs. `meanings` are those of all names so far: sources of several modules
# are compiled as one.
function look_around!(found::Surroundings, seen, meanings, expression, home::Module, itself::Symbol)
    used, bound = Set{Symbol}(), Set{Symbol}()
    collect_names!(used, bound, expression)
    for name in sort!(collect(setdiff(used, bound)))
        name === itself && continue
        (home, name) in seen && continue
        push!(seen, (home, name))
        isdefined(home, name) || continue
        value = Base.invokelatest(getfield, home, name)
        if is_own_function(value)
            note_meaning!(meanings, name, value)
            nameof(value) === name || throw(TessellaError(
                """
                error[E0774]: `$name` is another name for the function `$(nameof(value))`
                  = help: call it `$(nameof(value))`""", ["E0774"], :refused))
            for (source, place) in sources_of(value, name)
                push!(found.helpers, source)
                look_around!(found, seen, meanings, first(parse_at(source.text, 1)), place, name)
            end
        elseif isconst(home, name) && is_known_constant(value)
            belongs_to_base(home, name) && continue
            note_meaning!(meanings, name, value)
            push!(found.constants, constant_value(String(name), value))
            value isa Array && push!(found.tables, (value, copy(value)))
        end
    end
end

function note_meaning!(meanings, name::Symbol, value)
    get!(meanings, name, value) === value || throw(TessellaError(
        """
        error[E0774]: `$name` means two things in the functions that are compiled together
          = help: give one of them another name""", ["E0774"], :refused))
end

belongs_to_base(home::Module, name::Symbol) =
    any(place -> isdefined(place, name) && getfield(place, name) === getfield(home, name) && name in names(place), (Base, Core))

# Whether the user wrote the function: some of its methods stand outside of Julia itself.
is_own_function(value) = value isa Function && !(value isa Core.Builtin) && !(value isa Core.IntrinsicFunction) &&
    !is_julias(parentmodule(value)) && parentmodule(value) !== Tessella

function is_julias(place::Module)
    root = Base.moduleroot(place)
    return root === Base || root === Core || nameof(root) in (:LinearAlgebra, :Statistics, :Random, :SparseArrays, :Printf)
end

# The text of each method, and the module that it stands in.
function sources_of(f::Function, name::Symbol)
    if applicable(family, f) && hasmethod(family, Tuple{typeof(f)}) && is_ours(f)
        all = Base.invokelatest(family, f)
        return [(known.source, all.home) for known in definitions(f)]
    end
    # Methods that default arguments make stand where the method itself does.
    found = Tuple{SourceText,Module}[]
    for method in methods(f).ms
        source = method_source(method, name)
        any(known -> first(known).file == source.file && first(known).line == source.line, found) ||
            push!(found, (source, method.module))
    end
    return sort!(found; by = one -> (first(one).file, first(one).line))
end

is_ours(f) = which(family, Tuple{typeof(f)}).sig !== Tuple{typeof(family),Any}

function method_source(method::Method, name::Symbol)
    place = LineNumberNode(Int(method.line), method.file)
    path = Base.find_source_file(String(method.file))
    path === nothing || (place = LineNumberNode(Int(method.line), Symbol(path)))
    text = file_text(place)
    start = text === nothing ? nothing : nth_line(text, place.line)
    if start !== nothing
        expression, next = parse_at(text, start)
        if defines(expression, name)
            stop = prevind(text, min(next, ncodeunits(text) + 1))
            return SourceText(rstrip(text[start:stop]), file_name(place), place.line)
        end
    end
    throw(TessellaError(
        """
        error[E0775]: the source of `$name`, which is called here, cannot be found
          = note: its definition is said to stand at $(method.file):$(method.line)
          = help: define `$name` in a file, or with `@tessella`, which keeps the text""", ["E0775"], :refused))
end

# Whether an expression defines a method of this name, perhaps behind macros such as `@inline`.
function defines(expression, name::Symbol)
    expression isa Expr || return false
    expression.head === :macrocall && return any(argument -> defines(argument, name), expression.args[2:end])
    expression.head in (:function, :(=)) || return false
    signature = expression.args[1]
    while signature isa Expr && signature.head in (:where, :(::))
        signature = signature.args[1]
    end
    return signature isa Expr && signature.head === :call && last_name(signature.args[1]) === name
end

last_name(other) = nothing
last_name(name::Symbol) = name
last_name(expression::Expr) =
    expression.head === :. && expression.args[2] isa QuoteNode ? expression.args[2].value :
    expression.head === :curly ? last_name(expression.args[1]) : nothing

# Names that an expression uses, and names that it binds itself.
collect_names!(used, bound, other) = nothing
collect_names!(used, bound, name::Symbol) = (push!(used, name); nothing)

function collect_names!(used, bound, expression::Expr)
    head, arguments = expression.head, expression.args
    if head === :function || head === :(=) && is_signature(arguments[1])
        signature = arguments[1]
        while signature isa Expr && signature.head in (:where, :(::))
            foreach(part -> collect_names!(used, bound, part), signature.args[2:end])
            signature.head === :where && foreach(part -> bind_type_parameter!(bound, part), signature.args[2:end])
            signature = signature.args[1]
        end
        if signature isa Expr
            signature.head === :call && signature.args[1] isa Symbol && push!(bound, signature.args[1])
            for parameter in (signature.head === :call ? signature.args[2:end] : signature.args)
                bind_parameter!(used, bound, parameter)
            end
        end
        foreach(part -> collect_names!(used, bound, part), arguments[2:end])
        return nothing
    end
    if head === :for
        return collect_scoped!(used, bound, iterations(arguments[1]), arguments[2:end])
    elseif head === :generator
        return collect_scoped!(used, bound, reduce(vcat, map(iterations, arguments[2:end])), arguments[1:1])
    elseif head === :let
        return collect_scoped!(used, bound, iterations(arguments[1]), arguments[2:end])
    elseif head === :(=)
        bind_target!(bound, arguments[1])
    elseif head === :-> || head === :local
        foreach(part -> bind_target!(bound, part), head === :local ? arguments : arguments[1:1])
    elseif head === :macrocall
        # A macro's own name is no function; the name after `@comp` is none either.
        skip = arguments[1] === Symbol("@comp") ? 3 : 2
        foreach(part -> collect_names!(used, bound, part), arguments[min(skip + 1, end + 1):end])
        return nothing
    elseif head === :kw
        collect_names!(used, bound, arguments[2])
        return nothing
    elseif head === :.  && length(arguments) == 2 && arguments[2] isa QuoteNode
        collect_names!(used, bound, arguments[1])
        return nothing
    elseif head === :quote
        return nothing
    end
    foreach(part -> collect_names!(used, bound, part), arguments)
end

# `i in 1:n`, `x = 1`: what a loop, a comprehension or a `let` begins with, and conditions of a comprehension.
iterations(other) = Any[other]
iterations(expression::Expr) =
    expression.head === :block ? reduce(vcat, map(iterations, filter(part -> !(part isa LineNumberNode), expression.args)); init = Any[]) :
    expression.head === :filter ? vcat(map(iterations, expression.args[2:end])..., Any[expression.args[1]]) : Any[expression]

# Names that are bound for `body` alone: outside, the same names may be those of the module.
function collect_scoped!(used, bound, heads, body)
    inside, own = Set{Symbol}(), Set{Symbol}()
    for head in heads
        if head isa Expr && head.head === :(=) && !is_signature(head.args[1])
            before = Set{Symbol}()
            collect_names!(before, bound, head.args[2])
            union!(used, setdiff!(before, own))
            bind_target!(own, head.args[1])
        elseif head isa Symbol
            push!(own, head)
        else
            collect_names!(inside, own, head)
        end
    end
    foreach(part -> collect_names!(inside, bound, part), body)
    union!(used, setdiff!(inside, own))
    return nothing
end

is_signature(target) = target isa Expr && (target.head === :call || target.head in (:where, :(::)) && is_signature(target.args[1]))

bind_target!(bound, other) = nothing
bind_target!(bound, name::Symbol) = (push!(bound, name); nothing)

function bind_target!(bound, target::Expr)
    target.head in (:tuple, :parameters) && return foreach(part -> bind_target!(bound, part), target.args)
    target.head in (:(::), :(=), :kw, :...) && return bind_target!(bound, target.args[1])
    return nothing
end

bind_type_parameter!(bound, other) = nothing
bind_type_parameter!(bound, name::Symbol) = (push!(bound, name); nothing)

# `T <: Real`, `T >: Int`, `Int <: T <: Real`
bind_type_parameter!(bound, parameter::Expr) =
    foreach(part -> bind_type_parameter!(bound, part), parameter.head === :comparison ? parameter.args[3:3] : parameter.args[1:1])

bind_parameter!(used, bound, name::Symbol) = (push!(bound, name); nothing)
bind_parameter!(used, bound, other) = nothing

function bind_parameter!(used, bound, parameter::Expr)
    if parameter.head === :parameters
        foreach(part -> bind_parameter!(used, bound, part), parameter.args)
    elseif parameter.head === :kw
        collect_names!(used, bound, parameter.args[2])
        bind_parameter!(used, bound, parameter.args[1])
    elseif parameter.head === :(::)
        collect_names!(used, bound, parameter.args[end])
        length(parameter.args) == 2 && bind_parameter!(used, bound, parameter.args[1])
    elseif parameter.head === :...
        bind_parameter!(used, bound, parameter.args[1])
    end
end

# A number, a type of numbers, an array of numbers, a place in an array, or a tuple, with or without names, of numbers, places and
# such tuples.
is_known_constant(value) = value isa Scalar || value isa DataType && value in values(SCALAR_TYPES) || is_known_tuple(value) ||
    is_known_array(value) || value isa CartesianIndex

# Compiled code has the elements themselves: tables that are larger are better passed.
const MOST_ELEMENTS = 1024

is_known_array(value) = value isa Array && eltype(value) <: Scalar && isconcretetype(eltype(value)) && ndims(value) in 1:6 &&
    length(value) <= MOST_ELEMENTS

is_known_tuple(value) = value isa Union{Tuple,NamedTuple} && length(value) <= 64 &&
    all(part -> part isa Scalar || part isa CartesianIndex || is_known_tuple(part), values(value))

constant_value(name::String, value::Union{Tuple,NamedTuple}) = ConstantValue(name, "Tuple", parts_text(value))

# `Float64 2x3 bits bits ...`
constant_value(name::String, value::Array) =
    ConstantValue(name, "Array", join(Any[eltype(value), join(size(value), "x"), (bits_of(part) for part in value)...], " "))

constant_value(name::String, place::CartesianIndex) = ConstantValue(name, "Place", parts_text(Tuple(place)))

# `Float64:bits b=Float64:bits ( Int64:bits ) [ Int64:bits Int64:bits ]`, where brackets stand around a place
parts_text(value::Tuple) = join(map(part_text, value), " ")
parts_text(value::NamedTuple) = join((string(name, "=", part_text(part)) for (name, part) in pairs(value)), " ")
part_text(value::Scalar) = string(typeof(value), ":", bits_of(value))
part_text(value::Union{Tuple,NamedTuple}) = string("( ", parts_text(value), " )")
part_text(place::CartesianIndex) = string("[ ", parts_text(Tuple(place)), " ]")
constant_value(name::String, type::DataType) = ConstantValue(name, "Type", string(type))
constant_value(name::String, value::Scalar) = ConstantValue(name, string(typeof(value)), string(bits_of(value)))

bits_of(value::Bool) = UInt64(value)
bits_of(value::Float64) = reinterpret(UInt64, value)
bits_of(value::Float32) = UInt64(reinterpret(UInt32, value))
bits_of(value::Unsigned) = UInt64(value)
bits_of(value::Signed) = UInt64(reinterpret(unsigned(typeof(value)), value))

json(io::IO, constant::ConstantValue) =
    json(io, ("name" => constant.name, "type" => constant.type, "value" => constant.value))

"""
    Tessella.refresh!()

Looks at the functions and constants that compiled functions use again, at the next call of each, and compiles anew what
has changed. Needed after a function that a `@tessella` function calls was defined again, and nothing else was.
"""
refresh!() = (EPOCH[] += 1; nothing)
