# What can go wrong, as Julia exceptions.

"""
    TessellaError <: Exception

A function or schedule that Tessella refused, or a tool chain, GPU or call that failed.

* `text`: the diagnostics as rendered, with the source lines they are about.
* `codes`: their codes, such as `"E0401"`.
* `kind`: `:refused`, `:tool_chain`, `:internal`, `:library` (not found), `:overlap`, `:range`, `:memory` (of the GPU), `:cuda`.
"""
struct TessellaError <: Exception
    text::String
    codes::Vector{String}
    kind::Symbol
end

TessellaError(text::AbstractString, kind::Symbol) = TessellaError(String(text), String[], kind)

# The codes of rendered diagnostics.
codes_in(words) = String[found.captures[1] for found in eachmatch(r"error\[(E\d+)\]", words)]

Base.showerror(io::IO, error::TessellaError) = print(io, "TessellaError: ", rstrip(error.text))

# A subscript of the access that would leave its array: what a `BoundsError` of a compiled function carries as its
# index. `condition` says what does not hold; it is empty on the other axes.
struct Subscript
    text::String
    condition::String
    place::String
end

Base.show(io::IO, subscript::Subscript) = print(io, subscript.text)

# A value that no conversion was exact for; only the place is known.
struct Unknown
    words::String
end

Base.show(io::IO, value::Unknown) = print(io, "x); ", value.words, " (checked at entry: nothing was written")

# An array that the function makes, or a part of one, where Julia would show the array itself.
struct LocalArray
    description::String
end

Base.summary(io::IO, array::LocalArray) = print(io, array.description)
Base.show(io::IO, array::LocalArray) = print(io, array.description)

function hint_at_condition(io::IO, error::BoundsError)
    isdefined(error, :i) && error.i isa Tuple || return
    for subscript in error.i
        if subscript isa Subscript && !isempty(subscript.condition)
            needs = subscript.condition == "false" ? " is outside for all sizes" : " needs $(subscript.condition)"
            print(io, "\nThe access at ", subscript.place, needs, " (checked at entry: nothing was written)")
        end
    end
end
