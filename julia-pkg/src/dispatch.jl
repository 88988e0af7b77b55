# From a call to compiled code. The generated method for some argument types is, for `f(A::Matrix{Float64}, n::Int)`:
#
#     slot.epoch[] == EPOCH[] || prepare!(slot)
#     slot.entry == C_NULL && return detour(slot, original, A, n)
#     code = ccall(slot.entry, Int32, (Ptr{Float64}, Int64, Int64, Int64), A, size(A, 1), size(A, 2), n)
#     code == 0 ? outcome(...) : failed(slot, original, code, A, n)

# The body of the generated method; `names` are expressions for the arguments.
function call_body(home::Module, constant::Symbol, names, types)
    definition = getfield(home, constant)::Definition
    slot = Slot(home, constant, Tuple{types...})
    original = definition.original
    prepare = quote
        $(slot).epoch[] == $(GlobalRef(Tessella, :EPOCH))[] || $(prepare!)($slot)
        isempty($(slot).tables) || $(renew!)($slot)
    end
    if !all(is_passable, types)
        return quote
            $prepare
            return $original($(names...))
        end
    end
    result_type = :($(Core.Compiler.return_type)($original, $(Tuple{types...})))
    if !all(is_callable, types)
        return quote
            $prepare
            return $(detour)($slot, $original, $(names...))::$result_type
        end
    end
    c_types, c_values = handover(names, types)
    plain_call = :(ccall($(slot).entry, Int32, ($(c_types...),), $(c_values...)))
    scalar_call = :(ccall($(slot).entry, Int32, ($(c_types...), Ptr{UInt64}), $(c_values...),
                          Base.unsafe_convert(Ptr{UInt64}, result)))
    return quote
        $prepare
        $(slot).entry == C_NULL && return $(detour)($slot, $original, $(names...))::$result_type
        $(slot).plan === nothing || return $(give)($(slot).plan, $slot, $original, $(names...))::$result_type
        if $(slot).scalar
            result = Ref{UInt64}(0)
            GC.@preserve $(names...) result begin
                code = $scalar_call
                code == 0 && return $(scalar_outcome)($result_type, $slot, Base.unsafe_convert(Ptr{UInt64}, result),
                                                      $(names...))
            end
            return $(failed)($slot, $original, code, $(names...))::$result_type
        end
        code = GC.@preserve $(names...) $plain_call
        code == 0 && return $(outcome)($result_type, $slot, $(names...))
        return $(failed)($slot, $original, code, $(names...))::$result_type
    end
end

# The same for a method that takes its arguments as one tuple, called `name`.
function call_body_of_tuple(home::Module, constant::Symbol, name::Symbol, types)
    names = [Symbol("argument", at) for at in 1:length(types)]
    return Expr(:block, [:($one = $name[$at]) for (at, one) in enumerate(names)]...,
                call_body(home, constant, names, types))
end

# The C types and values of the entry's parameters.
function handover(names, types)
    c_types, c_values = Any[], Any[]
    for (name, type) in zip(names, types)
        if type <: AbstractArray
            push!(c_types, Ptr{eltype(type)})
            push!(c_values, :(pointer($name)))
            if eltype(type) <: ComplexScalar
                push!(c_types, Int64)
                push!(c_values, 2)
            end
            for axis in 1:ndims(type)
                push!(c_types, Int64)
                push!(c_values, :(size($name, $axis)))
            end
        elseif is_complex(type)
            append!(c_types, Any[real(type), real(type)])
            append!(c_values, Any[:(real($name)), :(imag($name))])
        else
            push!(c_types, c_type(type))
            push!(c_values, name)
        end
    end
    return c_types, c_values
end

# --- what comes back --------------------------------------------------------------------------------------------------

# `R` is what inference says of the original: with it, callers know the type of the result. `understand` has seen to it
# that what compiled code gives back is an `R`.
@inline function outcome(::Type{R}, of::Union{Slot,Compiled}, arguments...) where {R}
    R === Nothing && return nothing
    compiled = compiled_of(of)
    compiled.position == 0 && return Nothing <: R ? nothing : throw_disagreement(R)
    return argument_at(R, compiled.position, arguments...)
end

@inline argument_at(::Type{R}, position::Int, first, rest...) where {R} =
    position == 1 && first isa R ? first : argument_at(R, position - 1, rest...)
argument_at(::Type{R}, ::Int) where {R} = throw_disagreement(R)

@noinline throw_disagreement(R) = error("internal error of Tessella: the result is not of type $R")

@inline function scalar_outcome(::Type{R}, of::Union{Slot,Compiled}, result::Ptr{UInt64}, arguments...) where {R}
    is_scalar(R) && return unsafe_load(Ptr{R}(result))
    compiled = compiled_of(of)
    compiled.position == -1 && return argument_at(R, Int(unsafe_load(Ptr{Int64}(result))) + 1, arguments...)
    isconcretetype(R) && throw_disagreement(R)
    return unsafe_load(Ptr{compiled.scalar}(result))
end

compiled_of(slot::Slot) = slot.compiled::Compiled
compiled_of(compiled::Compiled) = compiled

# A call that is more than a call of the entry: the original, a launch on the GPU, or arrays with strides or axes of their
# own.
@noinline function detour(slot::Slot, original, arguments...)
    places = places_of(arguments)
    if places === nothing
        refuse_irregular(slot, arguments)
        return original(arguments...)
    end
    refuse_device_arrays(definition(slot), arguments, places)
    compiled = variant(slot, arguments, places)
    program = compiled.program
    program === nothing && return original(arguments...)
    R = Core.Compiler.return_type(original, typeof(arguments))
    result = Ref{UInt64}(0)
    words = entry_words(arguments, places)
    compiled.plan === nothing || return give_by_launch(compiled.plan, slot, compiled, original, words, places, arguments)
    GC.@preserve arguments words result begin
        data = Base.unsafe_convert(Ptr{UInt64}, result)
        compiled.scalar === nothing || push!(words, UInt64(UInt(data)))
        code = launch(program, Ptr{Cvoid}[pointer(words, at) for at in eachindex(words)],
                      device_flags(arguments, places, length(words)))
        code == 0 || return failed(slot, compiled, original, code, arguments...)
        compiled.scalar === nothing && return outcome(R, compiled, arguments...)
        return scalar_outcome(R, compiled, data, arguments...)
    end
end

@noinline failed(slot::Slot, original, code::Int32, arguments...) =
    failed(slot, slot.compiled::Compiled, original, code, arguments...)

@noinline function failed(slot::Slot, compiled::Compiled, original, code::Int32, arguments...)
    known = definition(slot)
    code == -1 && known.options.overlap === :original && return original(arguments...)
    exception = failure_exception(compiled.program, known, code, arguments)
    # Nothing has been written, so that the original may run from the start.
    pairs = failure(compiled.program, code)
    if !all(argument -> device_pointer(argument) === nothing, arguments)
        # What raises is told by copies of the arrays, which stay as they are.
        value_of(pairs, "kind") == "later" && original(map(on_host, arguments)...)
        throw(exception)
    end
    is_left_to_original(known, pairs, exception) && return original(arguments...)
    throw(exception)
end

on_host(argument) = device_pointer(argument) === nothing ? argument : Array(argument)

# Whether the original tells what a call comes to: what the source throws, it throws itself, and so it does where a test failed
# on the way; it may never get to an access that would be outside; and integers may be as large as it can take.
function is_left_to_original(known::Definition, pairs, exception)
    kind = value_of(pairs, "kind")
    kind == "bounds" && return value_of(pairs, "certain") == "no"
    kind == "range" && return may_fall_back(known, exception)
    return kind in ("thrown", "later")
end

# Of the host's memory plain Julia may run out, too; of the GPU's it knows nothing, and the words have the bytes.
function memory_exception(words)
    codes = codes_in(words)
    return isempty(codes) ? OutOfMemoryError() : TessellaError(rstrip(words), codes, :memory)
end

function failure_exception(program::Program, known::Definition, code::Int32, arguments)
    pairs = failure(program, code)
    kind = value_of(pairs, "kind")
    words = value_of(pairs, "text")
    if kind == "bounds"
        entry_position = something(tryparse(Int, value_of(pairs, "argument")), -1) + 1
        position = entry_position == 0 ? 0 : owner(map(typeof, arguments), entry_position)
        # The half of a complex element is no subscript of the source.
        halves = 1 <= position <= length(arguments) && eltype(arguments[position]) <: ComplexScalar ? 1 : 0
        axis = something(tryparse(Int, value_of(pairs, "axis")), -1) + 1
        place = value_of(pairs, "place")
        subscripts = Tuple(Subscript(subscript, number == axis ? value_of(pairs, "condition") : "", place)
                           for (number, subscript) in enumerate(values_of(pairs, "subscript")) if number > halves)
        1 <= position <= length(arguments) && return BoundsError(arguments[position], subscripts)
        return BoundsError(LocalArray("the array `$(value_of(pairs, "name"))`"), subscripts)
    elseif kind == "outside"
        return BoundsError(LocalArray(words))
    elseif kind == "inexact"
        # `trunc(Int64, x)`: the function and the type, as Julia's own exception has them.
        what = match(r"`(\w+)\((?:(\w+), )?x\)`", words)
        what === nothing && return InexactError(:convert, Any, Unknown(words))
        return InexactError(Symbol(what[1]), getfield(Base, Symbol(something(what[2], what[1]))), Unknown(words))
    elseif kind == "divide"
        return DivideError()
    elseif kind == "mismatch"
        return DimensionMismatch(words)
    elseif kind in ("thrown", "later")
        return ErrorException(words)
    elseif kind == "argument"
        return ArgumentError(words)
    elseif kind == "memory"
        return memory_exception(words)
    elseif kind == "overlap"
        return TessellaError(
            """
            error[E0771]: arguments of `$(known.name)` overlap in memory
              = note: $words
              = help: pass arrays of their own, or define `@tessella overlap=:original function $(known.name) ...`""",
            ["E0771"], :overlap)
    elseif kind == "range"
        return TessellaError(
            """
            error[E0772]: `$(known.name)` was not run: $words
              = help: pass smaller sizes and integers""",
            ["E0772"], :range)
    elseif kind == "cuda"
        return TessellaError("`$(known.name)` failed on the GPU\n$words", :cuda)
    end
    return TessellaError("error: `$(known.name)` failed: $words", :internal)
end

# --- compiling --------------------------------------------------------------------------------------------------------

# Brings a slot up to date. Throws if the function cannot be compiled and the original may not run instead.
@noinline function prepare!(slot::Slot)
    lock(COMPILING)
    try
        epoch = EPOCH[]
        slot.epoch[] == epoch && return nothing
        slot.variants = Pair{Vector{UInt8},Any}[]
        # Of arrays whose form the values tell, each form is compiled when it turns up.
        if all(is_callable, slot.types.parameters) || !all(is_passable, slot.types.parameters)
            slot.compiled = compile_once(slot, type_names(slot.types))
            slot.scalar = slot.compiled.scalar !== nothing
            slot.plan = slot.compiled.plan
            # Where sizes choose among schedules, a call is more than a call of the entry.
            slot.entry = isempty(slot.compiled.classes) ? slot.compiled.entry : C_NULL
        end
        slot.epoch[] = epoch
    finally
        unlock(COMPILING)
    end
    return nothing
end

# Elements of a constant array can change: then the function is compiled for what they are now. Where they do so again and
# again, the original runs.
const MOST_CHANGES = 4

@noinline function renew!(slot::Slot)
    all(table -> same_elements(table...), slot.tables) && return nothing
    lock(COMPILING)
    try
        slot.changes += 1
        slot.epoch[] = 0
        prepare!(slot)
    finally
        unlock(COMPILING)
    end
    return nothing
end

same_elements(a::Array, b::Array) = size(a) == size(b) && all(a[at] === b[at] for at in eachindex(a))

# What a slot runs for arguments of these forms.
function variant(slot::Slot, arguments::Tuple, places)
    class = nothing
    if all(is_callable, slot.types.parameters)
        plain = slot.compiled::Compiled
        isempty(plain.classes) && return plain
        class = class_of(arguments)
        class in plain.classes || return plain
    end
    key = class === nothing ? variant_key(places) : collect(reinterpret(UInt8, class))
    for (known, compiled) in slot.variants
        known == key && return compiled::Compiled
    end
    lock(COMPILING)
    try
        compiled = compile_once(slot, type_names(arguments, places), class)
        slot.variants = [slot.variants; key => compiled]
        return compiled
    finally
        unlock(COMPILING)
    end
end

# `class` is that of the sizes, where a tuner found a schedule for it.
function compile_once(slot::Slot, names::Vector{String}, class::Union{Nothing,Vector{Int}} = nothing)
    known = definition(slot)
    around = try_surroundings(known)
    if around isa Surroundings
        slot.tables = around.tables
        slot.changes > MOST_CHANGES && return left_to_original(slot, known)
    end
    key = around isa TessellaError ? hash(around.text) : surroundings_key(around)
    class === nothing || (key = hash(class, key))
    return get!(() -> compile(known, around, slot.types, names, class), COMPILED,
                (slot.home, slot.definition, known.version, key, names))
end

function left_to_original(slot::Slot, known::Definition)
    slot.tables = Tuple{Array,Array}[]
    return fall_back(known, TessellaError(
        """
        error[E0267]: constant arrays that `$(known.name)` reads keep changing
          = note: compiled code has copies of them, and was made anew $MOST_CHANGES times
          = help: pass the arrays as arguments""", ["E0267"], :refused))
end

function try_surroundings(known::Definition)
    try
        return surroundings(known)
    catch failure
        failure isa TessellaError || rethrow()
        return failure
    end
end

function compile(known::Definition, around, types, names::Vector{String}, class = nothing)
    around isa TessellaError && return fall_back(known, around)
    for (position, type) in enumerate(types.parameters)
        reason = is_passable(type) ? nothing : irregularity(known, position, type)
        reason === nothing || return fall_back(known, TessellaError(reason, ["E0773"], :refused))
    end
    program = try_compile(request(known, around, names; target = known.target, emit = Symbol[], load = true, class))
    program isa TessellaError && return fall_back(known, program)
    code = status(program)
    if code != 0
        failure = diagnostics(program, code)
        release(program)
        return fall_back(known, failure)
    end
    warnings = text(program, "diagnostics")
    warnings === nothing || warn_at(known, "`$(known.name)` was compiled, with remarks\n$(rstrip(warnings))")
    compiled = understand(known, program, types)
    compiled.program === nothing || append!(compiled.classes, tuned_classes(text(program, "tuned")))
    return compiled
end

# The program, or why there is no compiler.
function try_compile(request::String)
    try
        return Program(request)
    catch failure
        failure isa TessellaError || rethrow()
        return failure
    end
end

function request(known::Definition, around::Surroundings, names::Vector{String}; target::Symbol, emit::Vector{Symbol},
                 load::Bool, draw = nothing, class = nothing)
    return sprint(json, (
        "source" => known.source.text,
        "file" => known.source.file,
        "first_line" => known.source.line,
        "function" => String(known.name),
        "types" => names,
        "helpers" => around.helpers,
        "constants" => around.constants,
        "schedule" => known.schedule,
        "target" => target,
        "emit" => emit,
        "load" => load,
        "options" => ("threads" => known.options.threads, "overlap" => known.options.overlap,
                      "chunked" => known.options.chunked),
        (draw === nothing ? () : ("draw" => draw,))...,
        (class === nothing ? () : ("class" => class,))...,
    ))
end

function diagnostics(program::Program, code::Int32)
    codes = text(program, "codes")
    words = text(program, "diagnostics")
    return TessellaError(something(words, "the compiler gave no reason (status $code)"),
                         codes === nothing ? String[] : String.(split(codes)), get(STATUS_KINDS, code, :internal))
end

# What a loaded program gives back, checked against what inference knows of the original.
function understand(known::Definition, program::Program, types)
    described = something(text(program, "result"), "nothing")
    words = split(described)
    result = first(words)
    last_word = String(last(words))
    R = Core.Compiler.return_type(known.original, types)
    agrees = false
    compiled = ORIGINAL
    if startswith(described, '(') || startswith(described, "complex(") || startswith(described, "named ") || startswith(described, "oneof(") ||
       result in ("array", "complexarray")
        plan = Plan(described, types.parameters)
        compiled = Compiled(program, entry(program), nothing, 0, plan)
        agrees = result_type(plan, types) <: R
        R === Union{} && return fall_back(known, never_returns(known))
        agrees || return fall_back(known, other_result(known, result_type(plan, types), R))
    elseif result == "nothing"
        compiled = Compiled(program, entry(program), nothing, 0)
        agrees = Nothing <: R
    elseif result == "argument" && length(words) > 1 && words[2] == "of"
        positions = [owner(types.parameters, parse(Int, word) + 1) for word in words[3:end]]
        compiled = Compiled(program, entry(program), Int64, -1)
        agrees = all(at -> at <= length(types.parameters) && types.parameters[at] <: R, positions)
    elseif result == "argument"
        position = owner(types.parameters, parse(Int, last_word) + 1)
        compiled = Compiled(program, entry(program), nothing, position)
        agrees = position <= length(types.parameters) && types.parameters[position] <: R
    elseif result == "scalar" && haskey(SCALAR_TYPES, last_word)
        compiled = Compiled(program, entry(program), SCALAR_TYPES[last_word], 0)
        agrees = SCALAR_TYPES[last_word] <: R
        # An `Irrational`, say, which compiled code has as a number.
        agrees || R === Union{} || return fall_back(known, other_result(known, SCALAR_TYPES[last_word], R))
    end
    R === Union{} && return fall_back(known, never_returns(known))
    if !agrees || !all(is_passable, types.parameters)
        return fall_back(known, TessellaError(
            "internal error of Tessella: compiled, `$(known.name)` gives back `$(join(words, ' '))`, but Julia infers $R",
            :internal))
    end
    return compiled
end

# Julia raises an exception whatever the values are: that of a call without a method, most often.
function never_returns(known::Definition)
    return TessellaError(
        """
        error[E0276]: in Julia $VERSION, `$(known.name)` raises an exception for all arguments of these types
          = note: something that it calls throws, or has no method for them; a later Julia may have one, such as `maximum(x; init = 0.0)`
          = help: run it without Tessella, `Tessella.original($(known.name))(...)`, to see what Julia says""",
        ["E0276"], :refused)
end

function other_result(known::Definition, made, R)
    return TessellaError(
        """
        error[E0262]: the result of `$(known.name)` is of another type in Julia
          = note: compiled, the function gives back $made; Julia gives back $R
          = help: make an array with `zeros`, `similar` or a comprehension, or `collect` it; convert a number, as in `Float64(pi)`""",
        ["E0262"], :refused)
end

# The original runs from now on, if it may; else the error is thrown.
function fall_back(known::Definition, failure::TessellaError)
    may_fall_back(known, failure) || throw(failure)
    warn_at(known, "`$(known.name)` was not compiled: plain Julia runs it\n$(rstrip(failure.text))")
    return ORIGINAL
end

function may_fall_back(known::Definition, failure::TessellaError)
    known.schedule !== nothing && any(code -> startswith(code, "E04"), failure.codes) && return false
    known.options.fallback === nothing || return known.options.fallback
    wish = get(ENV, "TESSELLA_FALLBACK", "")
    wish == "0" && return false
    wish == "1" && return true
    # What is missing on the machine is not the function's fault: nobody is served by code that is quietly slow.
    return failure.kind !== :library && !(failure.kind === :tool_chain && known.target === :cuda)
end

# Says once for each list of argument types that an array has no place in memory that compiled code could use.
function refuse_irregular(slot::Slot, arguments)
    known = definition(slot)
    position = findfirst(argument -> argument isa AbstractArray && place(argument) === nothing, arguments)
    reason = irregularity(known, position, typeof(arguments[position]))
    failure = TessellaError(reason, ["E0773"], :refused)
    may_fall_back(known, failure) || throw(failure)
    lock(COMPILING)
    try
        key = (slot.home, slot.definition, slot.types)
        key in WARNED && return nothing
        push!(WARNED, key)
    finally
        unlock(COMPILING)
    end
    warn_at(known, "plain Julia runs `$(known.name)`\n$reason")
    return nothing
end

function warn_at(known::Definition, words::String)
    @warn words _module = nothing _file = known.source.file _line = known.source.line
    return nothing
end
