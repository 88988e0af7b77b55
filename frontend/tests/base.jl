# Compares the front end's trees with those of Julia's own parser: of every function in Julia's `base/` and standard
# library, and in the Julia sources of this repository.
#
#     cargo build --release -p tessella-frontend --example sexprs
#     julia frontend/tests/base.jl target/release/examples/sexprs [FOLDER or FILE]...
#
# A function that the front end refuses is counted by the code of its refusal. Everything else must be equal: a tree
# that differs, a file whose brackets and blocks do not match, a refusal without a place, a crash each fail.

using Test
include("form.jl")

const ROOT = normpath(joinpath(@__DIR__, "..", ".."))

# What the comparison of one folder found.
mutable struct Tally
    name::String
    files::Int
    functions::Int
    parsed::Int
    equal::Int
    # Places in quoted code and interpolations that the front end does not look into.
    opaque::Int
    refused::Dict{String,Int}
    failures::Vector{String}
end
Tally(name) = Tally(name, 0, 0, 0, 0, 0, Dict(), [])

function sources(path)
    isfile(path) && return [path]
    found = String[]
    for (folder, _, files) in walkdir(path), file in files
        endswith(file, ".jl") && isfile(joinpath(folder, file)) && push!(found, joinpath(folder, file))
    end
    return sort!(found)
end

# Whether `ours` equals `theirs`, and how many times it says `(opaque)` where they have a tree.
function equal(ours, theirs)
    pieces = split(ours, "(opaque)")
    length(pieces) == 1 && return ours == theirs, 0
    startswith(theirs, pieces[1]) || return false, 0
    at = ncodeunits(pieces[1]) + 1
    for piece in pieces[2:end]
        at = past_tree(theirs, at)
        startswith(SubString(theirs, min(at, ncodeunits(theirs) + 1)), piece) || return false, 0
        at += ncodeunits(piece)
    end
    return at == ncodeunits(theirs) + 1, length(pieces) - 1
end

# The index after the tree at `at`.
function past_tree(text, at)
    depth = 0
    while at <= ncodeunits(text)
        byte = codeunit(text, at)
        if byte == UInt8('"')
            at = findnext(isequal('"'), text, at + 1)
        elseif byte == UInt8('(')
            depth += 1
        elseif byte == UInt8(')')
            depth == 0 && return at
            depth -= 1
        elseif byte == UInt8(' ') && depth == 0
            return at
        end
        at += 1
    end
    return at
end

function describe(ours, theirs)
    same = 0
    for (a, b) in zip(codeunits(ours), codeunits(theirs))
        a == b || break
        same += 1
    end
    window(text) = String(codeunits(text)[max(1, same - 60):min(end, same + 100)])
    return "  ours:  …$(window(ours))\n  julia: …$(window(theirs))"
end

function compare!(tally, tool, files)
    text, path, place, refused = "", "", 0:0, false
    report = read(`$tool $files`, String)
    for entry in eachline(IOBuffer(report))
        kind, rest = split(entry, ' ', limit = 2)
        if kind == "file"
            path, text = rest, read(rest, String)
            tally.files += 1
        elseif kind == "error"
            # Sources that Julia does not accept either are tests of the messages.
            broken = Base.parse_input_line(text).head in (:error, :incomplete)
            structural = rest[1:5] in ("E0102", "E0103", "E0104", "E0105")
            structural && !broken && push!(tally.failures, "$path: structure: $rest")
        elseif kind == "function"
            tally.functions += 1
            start, stop, name = split(rest, ' ', limit = 3)
            place = parse(Int, start):parse(Int, stop)
            refused = false
        elseif kind == "tree"
            tally.parsed += 1
            source = String(codeunits(text)[place.start + 1:place.stop])
            theirs = try
                form(Meta.parse(source))
            catch failure
                "no tree: $(sprint(showerror, failure))"
            end
            same, opaque = equal(rest, theirs)
            tally.opaque += opaque
            tally.equal += same
            same && continue
            line = "$path:$(1 + count(isequal('\n'), String(codeunits(text)[1:place.start])))"
            push!(tally.failures, "$line\n$(describe(rest, theirs))")
        elseif kind == "refused"
            code, start, stop, message = split(rest, ' ', limit = 4)
            inside = place.start <= parse(Int, start) <= parse(Int, stop) <= place.stop
            inside || push!(tally.failures, "$path: the refusal \"$message\" is not in the function it is about")
            if !refused
                tally.refused["$code $message"] = get(tally.refused, "$code $message", 0) + 1
            end
            refused = true
        end
    end
end

percent(part, whole) = string(round(100part / max(whole, 1), digits = 1), " %")

function summary(tallies)
    functions, parsed = sum(t.functions for t in tallies), sum(t.parsed for t in tallies)
    equal, opaque = sum(t.equal for t in tallies), sum(t.opaque for t in tallies)
    refused = merge(+, (t.refused for t in tallies)...)
    codes = Dict{String,Int}()
    for (reason, count) in refused
        code = first(reason, 5)
        codes[code] = get(codes, code, 0) + count
    end
    for (reason, count) in sort!(collect(refused), by = last, rev = true)
        (count >= 5 || functions < 5000) && println("  refused ", lpad(count, 5), "  ", reason)
    end
    println("parser: ", sum(t.files for t in tallies), " files, ", functions, " functions, ", parsed, " parsed (",
            percent(parsed, functions), "), ", equal, " equal Meta.parse's (", percent(equal, parsed), "), ",
            opaque, " quotes not looked into; refused: ",
            join(["$count $code" for (code, count) in sort!(collect(codes))], ", "))
end

# The folders to compare, each with its name.
function targets(arguments)
    isempty(arguments) || return [path => path for path in arguments]
    share = normpath(joinpath(Sys.BINDIR, Base.DATAROOTDIR, "julia"))
    library = joinpath(share, "stdlib", "v$(VERSION.major).$(VERSION.minor)")
    ours = [joinpath(ROOT, folder) for folder in ("examples", "benches", "tests", "fuzz", "julia-pkg", "frontend")]
    return ["Julia's base" => joinpath(share, "base"), "Julia's standard library" => library,
            [relpath(path, ROOT) => path for path in ours if isdir(path)]...]
end

function main(arguments)
    tool = abspath(arguments[1])
    tallies = Tally[]
    @testset "trees equal those of Julia's own parser" begin
        for (name, path) in targets(arguments[2:end])
            tally = Tally(name)
            push!(tallies, tally)
            @testset "$name" begin
                @test (compare!(tally, tool, sources(path)); tally.functions > 0)
                foreach(println, tally.failures)
                # Not the list itself, which a failing test would print again.
                @test length(tally.failures) == 0
            end
        end
        summary(tallies)
    end
end

main(ARGS)
