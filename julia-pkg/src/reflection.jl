# What the compiler makes of a function, as text.

"""
A text about a compiled function; it shows as itself. `language` is `:c`, `:cuda`, `:schedule`, `:dependences`, ...
"""
struct Listing
    language::Symbol
    text::String
end

Base.show(io::IO, listing::Listing) = print(io, rstrip(listing.text))
Base.show(io::IO, ::MIME"text/plain", listing::Listing) = show(io, listing)
Base.print(io::IO, listing::Listing) = print(io, listing.text)

const KINDS = (:c, :cuda, :schedule, :dependences, :algorithm, :loops, :explain)

# The definition that a call with these argument types runs, and the types of all its arguments.
function resolve_types(f, types::Type{<:Tuple})
    resolved = Core.Compiler.return_type(resolve, Tuple{typeof(f),types.parameters...})
    if !(resolved isa DataType && resolved <: Resolved)
        throw_unresolved(f, types.parameters)
    end
    name, values = resolved.parameters
    return getfield(family(f).home, name)::Definition, values
end

# A text of the compiler for a list of argument types.
function listing(kind::Symbol, f, types::Type{<:Tuple})
    kind in KINDS || throw(ArgumentError("there is no text :$kind; there are $(join(KINDS, ", "))"))
    known, types = resolve_types(f, types)
    return listing(kind, known, types)
end

listing(kind::Symbol, f, types::Tuple) = listing(kind, f, Tuple{types...})

function listing(kind::Symbol, known::Definition, types::Type{<:Tuple})
    target = kind === :c || kind === :cuda ? kind : known.target
    program = Program(request(known, surroundings(known), type_names(types); target = target, emit = [kind], load = false))
    try
        code = status(program)
        code == 0 || throw(diagnostics(program, code))
        return Listing(kind, something(text(program, String(kind)), ""))
    finally
        release(program)
    end
end

# The same for a call.
function listing_of_call(kind::Symbol, f, arguments...; keywords...)
    resolved = resolve(f, arguments...; keywords...)
    name, types = typeof(resolved).parameters
    return listing(kind, getfield(family(f).home, name)::Definition, types)
end

"""
    Tessella.code_c(f, types)

The C code of `f` for arguments of these types, a tuple such as `(Matrix{Float64}, Int)`. See also [`@code_c`](@ref).
"""
code_c(f, types) = listing(:c, f, types)

"""
    Tessella.code_cuda(f, types)

The CUDA code of `f`, kernels and host wrapper, for arguments of these types. See also [`@code_cuda`](@ref).
"""
code_cuda(f, types) = listing(:cuda, f, types)

"""
    Tessella.code_schedule(f, types)

The schedule of `f` for arguments of these types. See also [`@code_schedule`](@ref).
"""
code_schedule(f, types) = listing(:schedule, f, types)

"""
    Tessella.explain(f, arguments...)

What Tessella found in `f` for arguments like these and what it does about it: computations, dependences, schedule.
Nothing is run.
"""
explain(f, arguments...; keywords...) = listing_of_call(:explain, f, arguments...; keywords...)

"""
    Tessella.dependences(f, arguments...)

The dependences between the computations of `f`.
"""
dependences(f, arguments...; keywords...) = listing_of_call(:dependences, f, arguments...; keywords...)

"""
    Tessella.algorithm(f, arguments...)

The computations of `f`: iteration domains, expressions, accesses.
"""
algorithm(f, arguments...; keywords...) = listing_of_call(:algorithm, f, arguments...; keywords...)
