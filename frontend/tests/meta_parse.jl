# Writes meta_parse.txt: each source of meta_parse_sources.txt with the tree that Julia's own parser gives it.
#
#     julia frontend/tests/meta_parse.jl

include("form.jl")

open(joinpath(@__DIR__, "meta_parse.txt"), "w") do out
    for source in split(read(joinpath(@__DIR__, "meta_parse_sources.txt"), String), '\n')
        isempty(source) && continue
        println(out, source)
        println(out, "    ", form(Meta.parse(replace(source, "⏎" => "\n"))))
    end
end
