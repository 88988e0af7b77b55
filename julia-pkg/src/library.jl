# libtessella: found and opened when it is first needed. The interface is documented in driver/include/tessella.h.

const ABI_VERSION = 5

const STATUS_KINDS = Dict{Int32,Symbol}(1 => :refused, 2 => :tool_chain, 3 => :internal)

# Functions for memory of the GPU.
struct MemoryFunctions
    allocate::Ptr{Cvoid}
    free::Ptr{Cvoid}
    address::Ptr{Cvoid}
    write::Ptr{Cvoid}
    read::Ptr{Cvoid}
    copy::Ptr{Cvoid}
    state::Ptr{Cvoid}
    failure::Ptr{Cvoid}
end

# Functions of the tuner.
struct TuningFunctions
    begin_::Ptr{Cvoid}
    step::Ptr{Cvoid}
    keep::Ptr{Cvoid}
    text::Ptr{Cvoid}
    release::Ptr{Cvoid}
    clear::Ptr{Cvoid}
end

struct Library
    path::String
    compile::Ptr{Cvoid}
    status::Ptr{Cvoid}
    text::Ptr{Cvoid}
    entry::Ptr{Cvoid}
    launch::Ptr{Cvoid}
    failure::Ptr{Cvoid}
    profile::Ptr{Cvoid}
    release::Ptr{Cvoid}
    memory::MemoryFunctions
    tuning::TuningFunctions
end

# Of this session. A package image may hold what another session put here; `begin_session` empties it.
const LIBRARY = Ref{Union{Nothing,Library}}(nothing)

function library_path()
    path = get(ENV, "TESSELLA_LIBRARY", "")
    isempty(path) || return path
    return normpath(joinpath(@__DIR__, "..", "..", "target", "release", "libtessella." * Libdl.dlext))
end

function library()
    loaded = LIBRARY[]
    loaded === nothing || return loaded
    opened = open_library(library_path())
    LIBRARY[] = opened
    return opened
end

function open_library(path::String)
    isfile(path) || throw(TessellaError(
        """
        the compiler's library is missing: $path
          = help: run `./x build` in Tessella's checkout, or set TESSELLA_LIBRARY to the path of libtessella""",
        :library))
    handle = try
        Libdl.dlopen(path)
    catch failure
        throw(TessellaError("the compiler's library cannot be opened: $(sprint(showerror, failure))", :library))
    end
    symbol(name) = something(Libdl.dlsym_e(handle, name), C_NULL)
    version_function = symbol(:tessella_abi_version)
    version = version_function == C_NULL ? nothing : Int(ccall(version_function, UInt32, ()))
    version == ABI_VERSION || throw(TessellaError(
        """
        $path is not of this version: it has interface $(something(version, "unknown")), Tessella.jl needs $ABI_VERSION
          = help: run `./x build` in the checkout that Tessella.jl comes from""",
        :library))
    return Library(path, map(symbol, (:tessella_compile, :tessella_status, :tessella_text, :tessella_entry,
                                      :tessella_launch_mixed, :tessella_failure, :tessella_profile, :tessella_release))...,
                   MemoryFunctions((symbol(Symbol(:tessella_memory_, name)) for name in fieldnames(MemoryFunctions))...),
                   TuningFunctions(map(symbol, (:tessella_tune, :tessella_tune_step, :tessella_tune_keep, :tessella_tune_text,
                                                :tessella_tune_release, :tessella_tuned_clear))...))
end

# A compiled program, or what became of it. It is never released on its own: its code may be running on another thread.
struct Program
    library::Library
    handle::Ptr{Cvoid}
end

function Program(request::AbstractString)
    opened = library()
    return Program(opened, ccall(opened.compile, Ptr{Cvoid}, (Cstring,), request))
end

status(program::Program) = ccall(program.library.status, Int32, (Ptr{Cvoid},), program.handle)

entry(program::Program) = ccall(program.library.entry, Ptr{Cvoid}, (Ptr{Cvoid},), program.handle)

release(program::Program) = ccall(program.library.release, Cvoid, (Ptr{Cvoid},), program.handle)

# The text of that name, or `nothing`.
function text(program::Program, name::AbstractString)
    found = ccall(program.library.text, Ptr{UInt8}, (Ptr{Cvoid}, Cstring), program.handle, name)
    return found == C_NULL ? nothing : unsafe_string(found)
end

# `on_device` says of each argument whether it is the address of an array in the GPU's memory.
function launch(program::Program, arguments::Vector{Ptr{Cvoid}}, on_device::Vector{UInt8})
    return ccall(program.library.launch, Int32, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}), program.handle, arguments,
                 on_device)
end

# What a launch takes, as text, and its code.
function profile(program::Program, arguments::Vector{Ptr{Cvoid}}, on_device::Vector{UInt8}, repeat::Int)
    code = Ref{Int32}(0)
    found = ccall(program.library.profile, Ptr{UInt8}, (Ptr{Cvoid}, Ptr{Ptr{Cvoid}}, Ptr{UInt8}, Int32, Ref{Int32}),
                  program.handle, arguments, on_device, repeat, code)
    return found == C_NULL ? "" : unsafe_string(found), code[]
end

# What a non-zero code of a call means: a list of pairs `key => value`, in the order given.
function failure(program::Program, code::Integer)
    found = ccall(program.library.failure, Ptr{UInt8}, (Ptr{Cvoid}, Int32), program.handle, code)
    found == C_NULL && return Pair{String,String}["kind" => "unknown", "text" => "error $code of the compiled function"]
    return key_values(unsafe_string(found))
end

function key_values(text::String)
    pairs = Pair{String,String}[]
    lines = split(text, '\n')
    for (number, line) in enumerate(lines)
        parts = split(line, '='; limit = 2)
        length(parts) == 2 || continue
        key = String(parts[1])
        if key == "text"
            push!(pairs, key => join([parts[2]; lines[number+1:end]], '\n'))
            break
        end
        push!(pairs, key => String(parts[2]))
    end
    return pairs
end

value_of(pairs, key) = (at = findfirst(pair -> first(pair) == key, pairs); at === nothing ? "" : last(pairs[at]))

values_of(pairs, key) = String[last(pair) for pair in pairs if first(pair) == key]

# --- JSON, as far as a request needs it -------------------------------------------------------------------------------

json(io::IO, ::Nothing) = print(io, "null")
json(io::IO, value::Union{Bool,Integer}) = print(io, value)
json(io::IO, value::Symbol) = json(io, String(value))

function json(io::IO, value::AbstractString)
    print(io, '"')
    for c in value
        if c == '"' || c == '\\'
            print(io, '\\', c)
        elseif !isvalid(c)
            print(io, '\ufffd')
        elseif c < ' '
            print(io, "\\u", string(UInt32(c); base = 16, pad = 4))
        else
            print(io, c)
        end
    end
    print(io, '"')
end

function json(io::IO, values::AbstractVector)
    print(io, '[')
    for (number, value) in enumerate(values)
        number == 1 || print(io, ", ")
        json(io, value)
    end
    print(io, ']')
end

# An object: pairs in the order given.
function json(io::IO, members::Tuple{Vararg{Pair}})
    print(io, '{')
    for (number, (key, value)) in enumerate(members)
        number == 1 || print(io, ", ")
        json(io, key)
        print(io, ": ")
        json(io, value)
    end
    print(io, '}')
end

function json(io::IO, source::SourceText)
    json(io, ("source" => source.text, "file" => source.file, "first_line" => source.line))
end
