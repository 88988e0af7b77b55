"""
    @tessella function f!(A, B, n) ... end
    @tessella target=:cuda function f!(A, B, n) ... end

Defines `f!` so that a call runs code which Tessella compiles for the argument types at the first call with these types.
The definition stays ordinary Julia: if it cannot be compiled, a warning says why, with the line, and plain Julia runs it.

Macros that say how Julia compiles the function stand between: `@tessella target=:cuda @fastmath function ...` lets sums of all of its
statements be taken in any order, which makes them run in parallel.

Options, before the function:

* `target=:c` (default: the CPU) or `target=:cuda`; `target=:interpreter` runs slowly and obviously, for tests.
* `fallback=false`: a function that cannot be compiled is a [`TessellaError`](@ref). `fallback=true`: plain Julia runs it
  whatever the reason, a missing GPU or library included. Without the option TESSELLA_FALLBACK decides.
* `overlap=:error` (default) or `overlap=:original`: what to do when arrays share memory.
* `threads=4`: threads of parallel loops on the CPU.
* `chunked=true`: where the function runs on a GPU, runs an outer parallel loop in slices, one after the other, where the memory of the GPU
  does not hold all arrays. A function of which no loop can be cut is refused.

Arguments are scalars of `Bool`, the `Int`s, the `UInt`s, `Float32`, `Float64` and complex numbers of these, and arrays of them: `Array`s,
views with regular strides, and with `target=:cuda` a [`DeviceArray`](@ref), which stays where it is. Sizes are checked once, at entry: a `BoundsError` is thrown before anything is written. Where it is not known
then whether the function gets to a subscript that is outside, and for integers beyond 2^40, the original runs.
"""
macro tessella(arguments...)
    isempty(arguments) && throw(ArgumentError("@tessella needs a function definition"))
    target, options = read_options(arguments[1:end-1])
    was_made_fast(arguments[end]) && throw(ArgumentError(
        "write `@tessella` before `@fastmath`, as in `@tessella target=:cuda @fastmath function f(x) ... end`: Julia runs the outer macro " *
        "first, and `@tessella` needs the function as it is written"))
    return esc(define(__module__, __source__, arguments[end], target, options))
end

"""
    @schedule f! begin
        tile(S, (j, i), (32, 32))
        parallel(S, j0)
    end

Sets the schedule of `f!`, a function defined with [`@tessella`](@ref); code compiled before is not used any more.
Statements are named with [`@comp`](@ref). The schedule is checked at the next call: one that breaks a dependence, or names
what is not there, is a [`TessellaError`](@ref). It belongs to the function's definition: a new definition starts without.
"""
macro schedule(arguments...)
    length(arguments) == 2 && is_block(arguments[2]) ||
        throw(ArgumentError("@schedule needs a function and a `begin ... end` block"))
    f, block = arguments
    text = inside_block(source_text("@schedule", block, __source__))
    return :(set_schedule!($(esc(f)), $text))
end

"""
    @comp S A[i, j] = ...

Names a statement, for [`@schedule`](@ref) and reports. To Julia it is the statement itself.
"""
macro comp(name, statement)
    name isa Symbol || throw(ArgumentError("@comp needs a name and a statement: @comp S A[i] = 0"))
    return esc(statement)
end

"""
    @code_c f!(A, B, n)

The C code that the call would run. See also [`Tessella.code_c`](@ref).
"""
macro code_c(call)
    return listing_call(:c, call)
end

"""
    @code_cuda f!(A, B, n)

The CUDA code that the call would run with `target=:cuda`. See also [`Tessella.code_cuda`](@ref).
"""
macro code_cuda(call)
    return listing_call(:cuda, call)
end

"""
    @code_schedule f!(A, B, n)

The schedule that the call would run with. See also [`Tessella.code_schedule`](@ref).
"""
macro code_schedule(call)
    return listing_call(:schedule, call)
end

is_block(expression) = expression isa Expr && expression.head === :block

function listing_call(kind::Symbol, call)
    call isa Expr && call.head === :call || throw(ArgumentError("@code_$kind needs a call, such as @code_$kind f!(A, n)"))
    parameters = [argument for argument in call.args[2:end] if argument isa Expr && argument.head === :parameters]
    others = [argument for argument in call.args[2:end] if !(argument isa Expr && argument.head === :parameters)]
    return esc(Expr(:call, GlobalRef(Tessella, :listing_of_call), parameters..., QuoteNode(kind), call.args[1], others...))
end

function read_options(options)
    target = :c
    fallback = nothing
    overlap = :error
    threads = nothing
    chunked = false
    for option in options
        option isa Expr && option.head === :(=) ||
            throw(ArgumentError("@tessella takes options such as target=:cuda and one function, not `$option`"))
        name, value = option.args
        value isa QuoteNode && (value = value.value)
        if name === :target && value in (:c, :cuda, :interpreter)
            target = value
        elseif name === :fallback && value isa Bool
            fallback = value
        elseif name === :overlap && value in (:error, :original)
            overlap = value
        elseif name === :threads && value isa Int && value >= 1
            threads = value
        elseif name === :chunked && value isa Bool
            chunked = value
        else
            throw(ArgumentError("@tessella does not know `$option`; it knows target=:c, target=:cuda, fallback=true, " *
                                "fallback=false, overlap=:error, overlap=:original, threads=4, chunked=true"))
        end
    end
    return target, Options(fallback, overlap, threads, chunked)
end

# --- the definition of a function -------------------------------------------------------------------------------------

struct Parameter
    "as in the signature, with a name if it had none"
    declaration::Any
    "how to pass it on"
    value::Any
    name::Symbol
end

struct Signature
    name::Symbol
    positional::Vector{Parameter}
    keywords::Vector{Parameter}
    "in the order in which they enclose the call, innermost first"
    where_clauses::Vector{Vector{Any}}
end

function define(home::Module, place::LineNumberNode, expression, target::Symbol, options::Options)
    signature = read_signature(expression)
    name = signature.name
    original = Symbol(name, "#original")
    constant = fresh(home, Symbol(name, "#definition"))
    by_position = fresh(home, Symbol(name, "#by_position"))
    dispatch = fresh(home, Symbol(name, "#compiled"))
    parameters = [signature.positional; signature.keywords]
    values = [parameter.value for parameter in parameters]
    splat = any(value -> value isa Expr, values)

    run = isempty(signature.keywords) ? original : by_position
    definition = :(const $constant = $Definition(
        $(QuoteNode(name)), $(source_text("@tessella", expression, place)),
        $([parameter.name for parameter in parameters]), $run, $(QuoteNode(target)), $options, nothing, 0))

    if splat
        generator = :($call_body_of_tuple($home, $(QuoteNode(constant)), :arguments, arguments))
        dispatcher = :(@generated $dispatch(arguments...) = $generator)
    else
        names = [Symbol("argument", at) for at in 1:length(values)]
        generator = :($call_body($home, $(QuoteNode(constant)), $(QuoteNode(names)), Any[$(names...)]))
        dispatcher = :(@generated $dispatch($(names...)) = $generator)
    end

    resolved = :($Resolved{$(QuoteNode(constant))}(($(values...),)))
    resolver = method(signature, :($(Tessella).resolve), resolved, place; before = [:(::typeof($name))])
    families = Symbol("#tessella#", name)
    block = Expr(:toplevel,
        renamed(expression, original),
        :(Base.@__doc__ $(method(signature, name, Expr(:call, dispatch, values...), place))))
    isempty(signature.keywords) || push!(block.args, forwarder(signature, by_position, original))
    push!(block.args,
        definition,
        :($register!($home, $(QuoteNode(name)), $(signature_key(signature)), $(QuoteNode(constant)), $original)),
        dispatcher,
        resolver,
        :($(Tessella).family(::typeof($name)) = $families),
        name)
    return block
end

# A name that the module does not have, not even from the session that precompiled it.
function fresh(home::Module, stem::Symbol)
    name = gensym(stem)
    while isdefined(home, name)
        name = gensym(stem)
    end
    return name
end

# Two definitions with equal keys replace one another.
function signature_key(signature::Signature)
    types = [declared_type(parameter.declaration) for parameter in signature.positional]
    return string(Expr(:tuple, types...), signature.where_clauses)
end

function declared_type(declaration)
    declaration isa Expr || return :Any
    declaration.head === :kw && return declared_type(declaration.args[1])
    declaration.head === :(::) && return declaration.args[end]
    declaration.head === :... && return Expr(:..., declared_type(declaration.args[1]))
    return :Any
end

function method(signature::Signature, name, body, place::LineNumberNode; before = [])
    declarations = [parameter.declaration for parameter in signature.positional]
    keywords = [parameter.declaration for parameter in signature.keywords]
    parameters = isempty(keywords) ? [] : [Expr(:parameters, keywords...)]
    call = Expr(:call, name, parameters..., before..., declarations...)
    for clause in signature.where_clauses
        call = Expr(:where, call, clause...)
    end
    return Expr(:function, call, Expr(:block, place, body))
end

# Takes keyword arguments by position.
function forwarder(signature::Signature, name::Symbol, original::Symbol)
    positional = [gensym(:argument) for _ in signature.positional]
    keywords = [gensym(:argument) for _ in signature.keywords]
    passed = [Expr(:kw, parameter.name, value) for (parameter, value) in zip(signature.keywords, keywords)]
    return :($name($(positional...), $(keywords...)) =
        $(Expr(:call, original, Expr(:parameters, passed...), positional...)))
end

# The definition behind macros such as `@fastmath`.
function definition_behind(expression)
    while expression isa Expr && expression.head === :macrocall && length(expression.args) >= 3
        expression = expression.args[end]
    end
    return expression
end

# Whether `@fastmath` stood before `@tessella`: then its functions stand in place of operators.
was_made_fast(expression) = expression isa Expr && (is_fast_function(expression) || any(was_made_fast, expression.args))
is_fast_function(expression::Expr) =
    expression.head === :. && expression.args[1] == :(Base.FastMath) && endswith(string(last(expression.args)), "_fast")

function renamed(definition::Expr, name::Symbol)
    definition.head === :macrocall &&
        return Expr(:macrocall, definition.args[1:end-1]..., renamed(definition.args[end], name))
    rename(expression) = expression.head === :call ?
        Expr(:call, name, expression.args[2:end]...) :
        Expr(expression.head, rename(expression.args[1]), expression.args[2:end]...)
    return Expr(definition.head, rename(definition.args[1]), definition.args[2:end]...)
end

function read_signature(expression)
    definition = definition_behind(expression)
    definition isa Expr && definition.head in (:function, :(=)) && length(definition.args) == 2 ||
        throw(ArgumentError("@tessella needs a function definition: `function f(x) ... end` or `f(x) = ...`"))
    call = definition.args[1]
    where_clauses = Vector{Any}[]
    while call isa Expr && call.head in (:where, :(::))
        call.head === :where && pushfirst!(where_clauses, call.args[2:end])
        call = call.args[1]
    end
    call isa Expr && call.head === :call && call.args[1] isa Symbol ||
        throw(ArgumentError("@tessella needs a function with a name of its own, not a method of another module's or of a type"))
    positional = Parameter[]
    keywords = Parameter[]
    for argument in call.args[2:end]
        if argument isa Expr && argument.head === :parameters
            append!(keywords, [read_parameter(keyword, 0) for keyword in argument.args])
        else
            push!(positional, read_parameter(argument, length(positional) + 1))
        end
    end
    any(keyword -> keyword.value isa Expr, keywords) &&
        throw(ArgumentError("@tessella cannot compile `$(call.args[1])`: it takes any keyword arguments"))
    return Signature(call.args[1], positional, keywords, where_clauses)
end

function read_parameter(declaration, position::Int)
    unnamed = Symbol("argument", position)
    declaration isa Symbol && return Parameter(declaration, declaration, declaration)
    if declaration isa Expr
        head, arguments = declaration.head, declaration.args
        if head === :(::) && length(arguments) == 2 && arguments[1] isa Symbol
            return Parameter(declaration, arguments[1], arguments[1])
        elseif head === :(::)
            return Parameter(Expr(:(::), unnamed, arguments[end]), unnamed, unnamed)
        elseif head === :tuple
            return Parameter(unnamed, unnamed, unnamed)
        elseif head === :kw
            inner = read_parameter(arguments[1], position)
            return Parameter(Expr(:kw, inner.declaration, arguments[2]), inner.value, inner.name)
        elseif head === :...
            inner = read_parameter(arguments[1], position)
            return Parameter(Expr(:..., inner.declaration), Expr(:..., inner.value), inner.name)
        end
    end
    throw(ArgumentError("@tessella does not understand the argument `$declaration`"))
end
