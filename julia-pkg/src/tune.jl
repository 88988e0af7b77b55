# The tuner, and what it has found.

"""
What [`Tessella.tune!`](@ref) found: seconds of a call `untuned` and with the best `schedule`, which is empty where Tessella's
own choice is best; how many schedules the models `considered` and `proposed`, how many were `timed`, `refused` and
`differing` (those do not count); and `ended`: `:exhausted`, `:budget` or `:interrupted`.
"""
struct Tuned
    name::String
    untuned::Float64
    seconds::Float64
    schedule::String
    considered::Int
    proposed::Int
    timed::Int
    refused::Int
    differing::Int
    ended::Symbol
end

function Base.show(io::IO, ::MIME"text/plain", tuned::Tuned)
    milliseconds(seconds) = string(round(1000seconds; sigdigits = 4), " ms")
    println(io, tuned.name, ": untuned ", milliseconds(tuned.untuned), "; ", tuned.timed, " of ", tuned.proposed,
            " proposed schedules timed")
    isempty(tuned.schedule) && return print(io, "best: Tessella's own choice")
    println(io, "best: ", milliseconds(tuned.seconds))
    print(io, join("    " .* split(tuned.schedule, '\n'), '\n'))
end

Base.show(io::IO, tuned::Tuned) = print(io, "Tessella.Tuned(", tuned.name, ", ", tuned.untuned, " s -> ", tuned.seconds, " s)")

# The class of sizes: for each extent and integer argument the doublings from 1 that reach it. `class_of` of the driver
# tells the same.
function class_of(arguments)
    class = Int[]
    for argument in arguments
        if argument isa AbstractArray
            eltype(argument) <: ComplexScalar && push!(class, doublings(2))
            append!(class, doublings.(size(argument)))
        elseif argument isa Integer && !(argument isa Bool)
            push!(class, doublings(argument))
        end
    end
    return class
end

doublings(size::Integer) = size <= 0 ? 0 : 65 - leading_zeros(UInt64(size) - UInt64(1))

# The classes of the text `tuned`.
tuned_classes(::Nothing) = Vector{Int}[]
tuned_classes(text::String) =
    [parse.(Int, split(line)) for line in split(text, '\n'; keepempty = false) if !startswith(line, ' ')]

"""
    Tessella.tune!(f, arguments...; budget = 60, seed = 1, progress = stderr isa Base.TTY)

Looks for a faster schedule of `f` for arguments like these: times schedules for `budget` seconds, the most promising first,
and keeps the fastest. From then on calls of `f` whose sizes are of the same class (each between the same two powers of two)
and whose types are the same use it, in later sessions, too, on this machine and with this version of the compilers.
Schedules are proved like any others, and each must give the untuned function's results, bit for bit. The arguments stay as
they are; what a call refuses, such as arrays that overlap, is refused. Ctrl-C ends the search and keeps the best so far. Returns a [`Tessella.Tuned`](@ref).

A function with a [`@schedule`](@ref) is not tuned. [`Tessella.clear_tuned!`](@ref) forgets all results.
"""
function tune!(f, arguments...; budget::Real = 60, seed::Integer = 1, progress::Bool = stderr isa Base.TTY, keywords...)
    budget >= 0 || throw(ArgumentError("`budget` is a number of seconds, not $budget"))
    resolved = resolve(f, arguments...; keywords...)
    known = getfield(family(f).home, first(typeof(resolved).parameters))::Definition
    values = map(value -> value isa DeviceArray ? Array(value) : value, resolved.values)
    known.target === :interpreter && throw(ArgumentError("the interpreter has no schedule; `retarget!` to :c or :cuda"))
    places = places_of(values)
    places === nothing && throw(unplaced(known, values))
    any(value -> value isa AbstractArray && device_pointer(value) !== nothing, values) &&
        throw(ArgumentError("tune with arrays in the memory of the host, such as `Array(A)`"))
    refuse_overlap(known, values, places)
    wish = request(known, surroundings(known), type_names(values, places); target = known.target, emit = Symbol[],
                   load = true, class = class_of(values))
    tuned = search(library(), wish, values, places, Float64(budget), UInt64(seed), progress)
    # What was compiled before may be another schedule now.
    change!(_ -> nothing, f)
    return tuned
end

# The tuner calls with copies, each in memory of its own. Where arguments lie in one piece of memory, that is copied as a whole, and a
# call with the copies tells whether they may.
function refuse_overlap(known::Definition, values::Tuple, places)
    copies, kept = copied_together(values, places)
    copies === nothing && return nothing
    program = Program(request(known, surroundings(known), type_names(values, places); target = :c, emit = Symbol[], load = true))
    try
        # What cannot be compiled is told by the tuner.
        status(program) == 0 || return nothing
        call(arguments, on_device) = launch(program, arguments, on_device)
        code = GC.@preserve kept call_once(call, program, values, copies)
        (code == 0 || value_of(failure(program, code), "kind") != "overlap") && return nothing
        known.options.overlap === :original &&
            throw(ArgumentError("arguments overlap in memory: such calls run the original of `$(known.name)`, which has no schedule"))
        throw(failure_exception(program, known, code, values))
    finally
        release(program)
    end
end

# How many bytes an array's elements lie before and behind its first one, and whether two of them may share memory.
function reach(value::AbstractArray, place::Place)
    bytes = sizeof(real(eltype(value)))
    rank = ndims(value) + (eltype(value) <: Complex)
    extents = place.numbers[1:rank]
    any(iszero, extents) && return 0, 0, false
    steps = place.strides === DENSE ? [prod(extents[1:axis-1]) for axis in 1:rank] :
        place.strides === UNIT_FIRST ? Int64[1; place.numbers[rank+1:2rank-1]] : place.numbers[rank+1:2rank]
    spans = (extents .- 1) .* steps
    taken, folds = 0, false
    for (step, span) in sort([(abs(step), abs(span)) for (step, span, extent) in zip(steps, spans, extents) if extent > 1])
        folds |= step <= taken
        taken += span
    end
    return bytes * -sum(min.(spans, 0)), bytes * (sum(max.(spans, 0)) + 1), folds
end

# The places of arrays in a copy of the memory that several share, and the copies; `nothing` where none shares any.
function copied_together(values::Tuple, places)
    known = Tuple{UInt,UInt,Int}[]
    meets = false
    for (number, (value, place)) in enumerate(zip(values, places))
        place === missing && continue
        before, behind, folds = reach(value, place)
        behind > 0 && push!(known, (UInt(place.data) - before, UInt(place.data) + behind, number))
        meets |= folds
    end
    sort!(known)
    groups = Vector{Tuple{UInt,UInt,Int}}[]
    last_byte = UInt(0)
    for one in known
        if one[1] < last_byte
            push!(groups[end], one)
            meets = true
        else
            push!(groups, [one])
        end
        last_byte = max(last_byte, one[2])
    end
    meets || return nothing, nothing
    copies, kept = copy(places), Vector{UInt64}[]
    for group in groups
        low, high = group[1][1], maximum(one -> one[2], group)
        memory = Vector{UInt64}(undef, cld(high - low, 8))
        GC.@preserve values memory unsafe_copyto!(Ptr{UInt8}(pointer(memory)), Ptr{UInt8}(low), high - low)
        push!(kept, memory)
        for (_, _, number) in group
            old = places[number]
            data = Ptr{Cvoid}(pointer(memory)) + (UInt(old.data) - low)
            copies[number] = Place(data, old.strides, old.offset, old.numbers, old.on_device)
        end
    end
    return copies, kept
end

function search(library::Library, wish::String, values, places, budget::Float64, seed::UInt64, progress::Bool)
    words = entry_words(values, places)
    handle = GC.@preserve values words begin
        pointers = Ptr{Cvoid}[pointer(words, at) for at in eachindex(words)]
        ccall(library.tuning.begin_, Ptr{Cvoid}, (Cstring, Ptr{Ptr{Cvoid}}, Float64, UInt64), wish, pointers, budget, seed)
    end
    try
        state = tuning_state(library, handle)
        kind = value_of(state, "kind")
        kind == "tuned" ||
            throw(TessellaError(value_of(state, "text"), String.(split(value_of(state, "codes"))), Symbol(kind)))
        ended = :interrupted
        try
            while true
                progress && show_progress(stderr, state)
                code = ccall(library.tuning.step, Int32, (Ptr{Cvoid},), handle)
                state = tuning_state(library, handle)
                code == 1 && continue
                value_of(state, "kind") == "tuned" || throw(TessellaError(value_of(state, "text"), :internal))
                ended = value_of(state, "left") == "0" ? :exhausted : :budget
                break
            end
        catch failure
            failure isa InterruptException || rethrow()
        end
        progress && print(stderr, "\r\e[K")
        ccall(library.tuning.keep, Int32, (Ptr{Cvoid},), handle) == 0 ||
            @warn "the tuned schedule cannot be kept: the cache cannot be written" _module = nothing
        return Tuned(tuning_state(library, handle), ended)
    finally
        ccall(library.tuning.release, Cvoid, (Ptr{Cvoid},), handle)
    end
end

tuning_state(library::Library, handle) =
    key_values(unsafe_string(ccall(library.tuning.text, Ptr{UInt8}, (Ptr{Cvoid},), handle)))

function Tuned(state::Vector{Pair{String,String}}, ended::Symbol)
    number(key) = parse(Float64, value_of(state, key))
    count(key) = parse(Int, value_of(state, key))
    return Tuned(value_of(state, "function"), number("untuned"), number("seconds"), value_of(state, "text"),
                 count("considered"), count("proposed"), count("timed"), count("refused"), count("differing"), ended)
end

function show_progress(io::IO, state)
    total, left = parse(Int, value_of(state, "proposed")), parse(Int, value_of(state, "left"))
    width = 30
    full = total == 0 ? width : width * (total - left) ÷ total
    milliseconds(key) = round(1000 * parse(Float64, value_of(state, key)); sigdigits = 4)
    print(io, "\r\e[K[", '='^full, ' '^(width - full), "] ", total - left, '/', total, "  best ", milliseconds("seconds"),
          " ms, untuned ", milliseconds("untuned"), " ms")
end

"""
    Tessella.clear_tuned!()

Forgets what [`Tessella.tune!`](@ref) and `tessella tune` have found, for all functions. Returns for how many that was.
"""
function clear_tuned!()
    count = ccall(library().tuning.clear, Int64, ())
    count < 0 && throw(TessellaError("error: the tuned schedules cannot be removed from the cache", :internal))
    lock(COMPILING)
    try
        empty!(COMPILED)
        EPOCH[] += 1
    finally
        unlock(COMPILING)
    end
    return Int(count)
end

"""
    Tessella.tuned_schedule(f, arguments...)

The schedule that a tuner found for calls like this one, as text; `nothing` where Tessella's own choice runs.
"""
function tuned_schedule(f, arguments...; keywords...)
    resolved = resolve(f, arguments...; keywords...)
    known = getfield(family(f).home, first(typeof(resolved).parameters))::Definition
    places = places_of(resolved.values)
    places === nothing && return nothing
    program = Program(request(known, surroundings(known), type_names(resolved.values, places); target = known.target,
                              emit = Symbol[], load = true))
    found = try
        text(program, "tuned")
    finally
        release(program)
    end
    found === nothing && return nothing
    class = join(class_of(resolved.values), ' ')
    lines = split(found, '\n')
    at = findfirst(==(class), lines)
    at === nothing && return nothing
    return join((line[5:end] for line in Iterators.takewhile(startswith("    "), lines[at+1:end])), '\n')
end
