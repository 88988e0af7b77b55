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

const KINDS = (:c, :cuda, :schedule, :dependences, :algorithm, :loops, :explain, :draw)

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

listing(kind::Symbol, known::Definition, types::Type{<:Tuple}; draw = nothing) =
    listing(kind, known, type_names(types); draw = draw)

function listing(kind::Symbol, known::Definition, names::Vector{String}; draw = nothing)
    target = kind === :c || kind === :cuda ? kind : known.target
    program = Program(request(known, surroundings(known), names; target = target, emit = [kind], load = false,
                              draw = draw))
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
    return listing(kind, resolve_call(f, arguments...; keywords...)...)
end

# The definition that a call runs, and the types of all its arguments as a request names them.
function resolve_call(f, arguments...; keywords...)
    resolved = resolve(f, arguments...; keywords...)
    name, types = typeof(resolved).parameters
    places = places_of(resolved.values)
    names = places === nothing ? type_names(types) : type_names(resolved.values, places)
    return getfield(family(f).home, name)::Definition, names
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

# --- explanations and drawings ----------------------------------------------------------------------------------------

"""
A picture as SVG, which notebooks show; `write("picture.svg", drawing)` saves it.
"""
struct Drawing
    svg::String
end

Base.show(io::IO, ::MIME"image/svg+xml", drawing::Drawing) = print(io, drawing.svg)
Base.show(io::IO, drawing::Drawing) = print(io, "Tessella.Drawing(", sizeof(drawing.svg), " bytes of SVG)")
Base.write(io::IO, drawing::Drawing) = write(io, drawing.svg)

"""
A function explained in words; notebooks show a drawing below.
"""
struct Explanation
    text::String
    # `nothing` where there is nothing to draw.
    drawing::Union{Nothing,Drawing}
end

Base.show(io::IO, explanation::Explanation) = print(io, rstrip(explanation.text))
Base.show(io::IO, ::MIME"text/plain", explanation::Explanation) = show(io, explanation)
Base.print(io::IO, explanation::Explanation) = print(io, explanation.text)

function Base.show(io::IO, ::MIME"text/html", explanation::Explanation)
    print(io, "<pre>", html_text(rstrip(explanation.text)), "</pre>")
    explanation.drawing === nothing || print(io, "\n", explanation.drawing.svg)
end

Base.show(io::IO, ::MIME"image/svg+xml", explanation::Explanation) = print(io, explanation.drawing.svg)
Base.showable(::MIME"image/svg+xml", explanation::Explanation) = explanation.drawing !== nothing

html_text(text) = replace(replace(replace(text, "&" => "&amp;"), "<" => "&lt;"), ">" => "&gt;")

"""
    Tessella.explain(f, arguments...)

What Tessella found in `f` for arguments like these and what it does about it: statements, dependences, which loops run
in parallel, and why the others do not. Notebooks show a drawing of two dimensions below. Nothing is run.
"""
function explain(f, arguments...; keywords...)
    known, types = resolve_call(f, arguments...; keywords...)
    text = listing(:explain, known, types).text
    # A function without loops is explained all the same.
    drawing = try
        Drawing(listing(:draw, known, types).text)
    catch failure
        failure isa TessellaError || rethrow()
        nothing
    end
    return Explanation(text, drawing)
end

"""
    Tessella.draw(f, arguments...; dims, computation, sizes, fix, space, order, tiling)

Two dimensions of the iterations of `f` as a picture that notebooks show: a point for each iteration, arrows from each
to those that depend on it, the tiles of the schedule in colours, and the order of execution. The arguments only give
their types, and may be types themselves; nothing is run.

- `dims = (:i, :j)`: the horizontal and the vertical dimension; else two that are tiled, or the two outermost;
- `computation = :S`: this computation alone;
- `sizes = (n = 8, steps = 4)`: sizes and integer arguments, which must be small;
- `fix = (k = 1,)`: the values of other dimensions; else the middle of their ranges;
- `space = :iterations` or `:schedule`: whether dimensions are loops of the source or of the schedule;
- `order = :auto`, `:numbers`, `:line` or `:none`;
- `tiling = true`: the tiles of each tiling of time instead, along time and one dimension of space (`dims = :i`).
"""
function draw(f, arguments...; dims = (), computation = nothing, sizes = NamedTuple(), fix = NamedTuple(),
              space::Symbol = :iterations, order::Symbol = :auto, tiling::Bool = false)
    space in (:iterations, :schedule) ||
        throw(ArgumentError("`space` is `:iterations` or `:schedule`, not `$(repr(space))`"))
    order in (:auto, :numbers, :line, :none) ||
        throw(ArgumentError("`order` is `:auto`, `:numbers`, `:line` or `:none`, not `$(repr(order))`"))
    dims isa Symbol || dims isa Union{Tuple,AbstractVector} && all(dim -> dim isa Union{Symbol,AbstractString}, dims) ||
        throw(ArgumentError("`dims` names dimensions, as in `(:i, :j)`; it is $(repr(dims))"))
    computation isa Union{Symbol,AbstractString,Nothing} ||
        throw(ArgumentError("`computation` is a name, as `:S`, not `$(repr(computation))`"))
    options = ("computation" => computation === nothing ? nothing : String(computation),
               "dims" => String[String(dim) for dim in (dims isa Symbol ? (dims,) : dims)],
               "sizes" => integers(sizes), "fix" => integers(fix), "scheduled" => space === :schedule, "order" => order,
               "tiling" => tiling)
    known, types = !isempty(arguments) && all(it -> it isa Type, arguments) ? resolve_types(f, Tuple{arguments...}) :
                   resolve_call(f, arguments...)
    return Drawing(listing(:draw, known, types; draw = options).text)
end

# The members of a named tuple as those of an object.
function integers(values)
    values isa Union{NamedTuple,AbstractDict} && all(value -> value isa Integer, Base.values(values)) ||
        throw(ArgumentError("sizes and values are integers by name, as in `(n = 8,)`; these are $(repr(values))"))
    return Tuple(String(key) => Int(value) for (key, value) in pairs(values))
end

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
