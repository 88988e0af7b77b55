# What a call takes on the GPU, measured, beside what it has to do, counted.

"""
What one kernel takes in a call. Times are seconds; `read_bytes`, `written_bytes`, `float32` and `float64` are counted from
the polyhedral model, and `nothing` where that takes too long; they are upper limits unless `exact`. Bytes are those of elements that
each launch must read or write, every element once, also where a launch makes several time steps.
"""
struct KernelProfile
    name::String
    launches::Int
    time::Float64
    read_bytes::Union{Nothing,Int}
    written_bytes::Union{Nothing,Int}
    "operations in `Float32`"
    float32::Union{Nothing,Int}
    float64::Union{Nothing,Int}
    exact::Bool
    "of the last launch, along x, y and z"
    grid::NTuple{3,Int}
    block::NTuple{3,Int}
    "of a thread"
    registers::Int
    "of a block"
    shared_bytes::Int
    "of a thread: what does not fit into registers"
    local_bytes::Int
    "the share of a multiprocessor's threads that run at once"
    occupancy::Float64
end

"Copies one way: how many bytes in how many copies, and the seconds that these took."
struct Copies
    bytes::Int
    count::Int
    time::Float64
end

"""
What a call takes on the GPU; it shows as a table. `kernels_time` is the time of all kernels, gaps between them included
and copies not; `copy_ceiling` (bytes a second), `float32_ceiling` and `float64_ceiling` (operations a second) are what
the GPU reached in kernels that do nothing else, measured in the same session.
"""
struct Profile
    name::String
    device::String
    copy_ceiling::Float64
    float32_ceiling::Float64
    float64_ceiling::Float64
    kernels_time::Float64
    copied_in::Copies
    copied_out::Copies
    kernels::Vector{KernelProfile}
    table::String
end

Base.show(io::IO, ::MIME"text/plain", profile::Profile) = print(io, rstrip(profile.table))
Base.show(io::IO, profile::Profile) = print(io, "Tessella.Profile(", profile.name, ", ", profile.kernels_time, " s)")

"""
    Tessella.profile(f, arguments...; repeat = 7)

Runs `f` on the GPU, whatever its target, `repeat` times for each kind of measurement, and tells for each kernel the time,
the bytes and operations that it stands for, the achieved share of what the GPU reaches, registers, shared memory and
occupancy. Arrays are afterwards as after one call. Throws a [`TessellaError`](@ref) where there is no GPU.
"""
function profile(f, arguments...; repeat::Integer = 7, keywords...)
    resolved = resolve(f, arguments...; keywords...)
    name = first(typeof(resolved).parameters)
    known = getfield(family(f).home, name)::Definition
    values = resolved.values
    places = places_of(values)
    places === nothing && throw(unplaced(known, values))
    program = Program(request(known, surroundings(known), type_names(values, places); target = :cuda, emit = Symbol[],
                              load = true))
    try
        code = status(program)
        code == 0 || throw(with_target(known, diagnostics(program, code)))
        return profile(program, known, values, places, Int(repeat))
    finally
        release(program)
    end
end

# Where the GPU is missing, that this function needs none of its own.
function with_target(known::Definition, failure::TessellaError)
    failure.kind === :tool_chain && known.target !== :cuda || return failure
    note = "  = note: `Tessella.profile` runs `$(known.name)` as with `target=:cuda`; its own target, :$(known.target), is not measured"
    return TessellaError(string(rstrip(failure.text), '\n', note), failure.codes, failure.kind)
end

function profile(program::Program, known::Definition, values::Tuple, places, repeat::Int)
    report = Ref("")
    measure(arguments, on_device) = ((report[], code) = profile(program, arguments, on_device, repeat); code)
    code = call_once(measure, program, values, places)
    code == 0 || throw(failure_exception(program, known, code, values))
    return Profile(key_values(report[]))
end

# Calls a program with room for what it gives back, which nobody looks at. `call` takes the addresses of the entry's parameters and the
# flags of arrays in the GPU's memory.
function call_once(call, program::Program, values::Tuple, places)
    described = something(text(program, "result"), "nothing")
    words = entry_words(values, places)
    code = Int32(0)
    if startswith(described, '(') || startswith(described, "complex(") || startswith(described, "array") || startswith(described, "complexarray") ||
       startswith(described, "named ") || startswith(described, "oneof(")
        _, code = fill_places(Plan(described, typeof(values).parameters), program, words, places, values, call)
    else
        result = Ref{UInt64}(0)
        GC.@preserve values words result begin
            is_scalar_result(described) && push!(words, UInt64(UInt(Base.unsafe_convert(Ptr{UInt64}, result))))
            code = call(Ptr{Cvoid}[pointer(words, at) for at in eachindex(words)],
                        device_flags(values, places, length(words)))
        end
    end
    return code
end

is_scalar_result(described) = startswith(described, "scalar") || startswith(described, "argument of")

function Profile(pairs::Vector{Pair{String,String}})
    number(key, from) = parse(Float64, value_of(from, key))
    starts = findall(pair -> first(pair) == "kernel", pairs)
    stop = something(findfirst(pair -> first(pair) == "text", pairs), length(pairs) + 1)
    whole = pairs[1:(isempty(starts) ? stop - 1 : starts[1] - 1)]
    isempty(whole) && throw(TessellaError("internal error of Tessella: no profile: $(value_of(pairs, "text"))", :internal))
    copies(way) = Copies(number("copied_$(way)_bytes", whole), number("copied_$(way)_count", whole),
                         number("copied_$(way)_time", whole))
    kernels = [KernelProfile(pairs[from:to-1]) for (from, to) in zip(starts, [starts[2:end]; stop])]
    return Profile(value_of(whole, "function"), value_of(whole, "device"), number("copy_ceiling", whole),
                   number("float32_ceiling", whole), number("float64_ceiling", whole), number("kernels_time", whole),
                   copies("in"), copies("out"), kernels, value_of(pairs, "text"))
end

function KernelProfile(pairs::Vector{Pair{String,String}})
    whole(key) = tryparse(Int, value_of(pairs, key))
    known(key) = something(whole(key), 0)
    triple(key) = Tuple(parse(Int, word) for word in split(value_of(pairs, key)))
    return KernelProfile(value_of(pairs, "kernel"), known("launches"), parse(Float64, value_of(pairs, "time")),
                         whole("read_bytes"), whole("written_bytes"), whole("float32"), whole("float64"),
                         value_of(pairs, "exact") == "1", triple("grid"), triple("block"), known("registers"),
                         known("shared_bytes"), known("local_bytes"), parse(Float64, value_of(pairs, "occupancy")))
end
