# What `@tessella` remembers of a function, and what has been compiled of it.
#
# Compiled code is reached through a `Slot`, one for each combination of argument types, which is a constant in the
# generated method for these types. A slot may come out of a package image that another session wrote, so it is valid
# only while its epoch is the current one: epochs begin anew, at a random number, in each session, and advance whenever a
# schedule or target changes. A slot finds its definition by module and name, since an image copies everything else.

struct Options
    "`nothing`: as TESSELLA_FALLBACK says; else run the original for what cannot be compiled, except without a library or GPU"
    fallback::Union{Nothing,Bool}
    "what to do when arrays share memory: `:error` or `:original`"
    overlap::Symbol
    threads::Union{Nothing,Int}
    "whether a program for a GPU runs in slices where its arrays do not fit"
    chunked::Bool
end

# One method that `@tessella` defined.
mutable struct Definition
    name::Symbol
    source::SourceText
    parameters::Vector{Symbol}
    "takes all arguments by position, keyword arguments last"
    original::Any
    target::Symbol
    options::Options
    schedule::Union{Nothing,SourceText}
    "advances with `target` and `schedule`"
    version::UInt
end

# All methods that `@tessella` defined for one function.
struct Family
    "has the function's own methods, as the user wrote them"
    original::Any
    "from signatures to constants of the module"
    definitions::Dict{String,Symbol}
    home::Module
end

mutable struct Slot
    epoch::Threads.Atomic{UInt}
    "the compiled function, or C_NULL when there is more to do than a call"
    entry::Ptr{Cvoid}
    "whether the entry takes a pointer for a scalar result"
    scalar::Bool
    "how new arrays and tuples are given back, a `Plan`; `nothing` where none are"
    plan::Any
    compiled::Any
    "what was compiled for arrays whose form the values tell; replaced, never changed"
    variants::Vector{Pair{Vector{UInt8},Any}}
    "constant arrays that the compiled function has copies of, with what they held then"
    tables::Vector{Tuple{Array,Array}}
    "how often they were found changed"
    changes::Int
    home::Module
    definition::Symbol
    types::Any
end

Slot(home::Module, definition::Symbol, types) =
    Slot(Threads.Atomic{UInt}(0), C_NULL, false, nothing, nothing, Pair{Vector{UInt8},Any}[], Tuple{Array,Array}[], 0, home, definition, types)

# What became of one definition for one list of argument types.
struct Compiled
    "`nothing`: the original runs"
    program::Union{Nothing,Program}
    entry::Ptr{Cvoid}
    "the type of a scalar result"
    scalar::Union{Nothing,DataType}
    "the position of the argument that is given back; 0 if none is, -1 if it is written where a scalar result would be"
    position::Int
    "how new arrays and tuples are given back; `nothing` where none are"
    plan::Union{Nothing,Plan}
    "classes of sizes for which a tuner found another schedule"
    classes::Vector{Vector{Int}}
end

Compiled(program, entry, scalar, position, plan = nothing) =
    Compiled(program, entry, scalar, position, plan, Vector{Int}[])

const ORIGINAL = Compiled(nothing, C_NULL, nothing, 0)

const EPOCH = Threads.Atomic{UInt}(0)
const COMPILING = ReentrantLock()
# By definition, its version, the functions and constants around it, and the names of the argument types.
const COMPILED = Dict{Tuple{Module,Symbol,UInt,UInt,Vector{String}},Compiled}()
# What was said once and need not be said again.
const WARNED = Set{Any}()

function begin_session()
    LIBRARY[] = nothing
    empty!(COMPILED)
    empty!(WARNED)
    EPOCH[] = UInt(hash((getpid(), time_ns(), time()))) | 1
end

definition(slot::Slot) = getfield(slot.home, slot.definition)::Definition

# Methods are added by `@tessella`.
family(f) = throw(ArgumentError("`$f` was not defined with @tessella"))

# A definition and the values of all its arguments, as a call would bind them.
struct Resolved{Name,Values<:Tuple}
    values::Values
end

Resolved{Name}(values::Tuple) where {Name} = Resolved{Name,typeof(values)}(values)

# Methods are added by `@tessella`, with the signature of the function behind the function itself.
function resolve end

resolve(f, arguments...; keywords...) = throw_unresolved(f, map(typeof, arguments))

@noinline function throw_unresolved(f, types)
    family(f)
    throw(ArgumentError("`$f` has no method that @tessella defined for ($(join(types, ", ")))"))
end

function register!(home::Module, name::Symbol, signature::String, constant::Symbol, original)
    families = Symbol("#tessella#", name)
    if !isdefined(home, families)
        Core.eval(home, :(const $families = $(Family(original, Dict{String,Symbol}(), home))))
    end
    known = Base.invokelatest(getfield, home, families)::Family
    known.definitions[signature] = constant
    EPOCH[] += 1
    return nothing
end

definitions(f) = (all = family(f); [getfield(all.home, name)::Definition for name in sort!(collect(values(all.definitions)))])

"""
    Tessella.original(f)

The function as it was written, with all its methods, run by plain Julia.
"""
original(f) = family(f).original

"""
    Tessella.retarget!(f, target)

Makes all methods of `f` run on `target`, `:c`, `:cuda` or `:interpreter`, from the next call on. Returns `f`.
"""
function retarget!(f, target::Symbol)
    target in (:c, :cuda, :interpreter) || throw(ArgumentError("target is :c, :cuda or :interpreter, not :$target"))
    change!(definition -> definition.target = target, f)
    return f
end

set_schedule!(f, schedule::Union{Nothing,SourceText}) = change!(definition -> definition.schedule = schedule, f)

"""
    Tessella.unschedule!(f)

Takes back what [`@schedule`](@ref) said: the auto-scheduler decides again. Returns `f`.
"""
unschedule!(f) = (set_schedule!(f, nothing); f)

function change!(change, f)
    lock(COMPILING)
    try
        for definition in definitions(f)
            change(definition)
            definition.version += 1
        end
        EPOCH[] += 1
    finally
        unlock(COMPILING)
    end
    return nothing
end
