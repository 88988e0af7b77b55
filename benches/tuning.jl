# How much of the search the models save, and how far their first guess is from the tuned best.
#
#     ./x build; julia benches/tuning.jl [--budget=SECONDS] [--write] [NAME ...]
#
# Tunes stencils of tests/stencils and kernels of tests/polybench on the CPU, each for SECONDS (15 unless given), nothing
# kept: with the default set that takes four minutes on an idle machine. Names choose programs. `--write` puts the table into
# docs/models.md, between its marks.
#
# Columns: schedules that were generated, those that the models left, and those timed; the time of Tessella's own choice, of
# the timed schedule that the models predict to be fastest, and of the fastest one; and how much longer the guess takes.
module TuningBench

using Printf

const ROOT = normpath(joinpath(@__DIR__, ".."))
const TOOL = joinpath(ROOT, "target", "release", "tessella")
const DOCUMENT = joinpath(ROOT, "docs", "models.md")
const BEGIN, END = "<!-- tuning: begin -->", "<!-- tuning: end -->"

# Programs, and sizes that do not fit into the caches.
const PROGRAMS = [
    "stencils/jacobi1d" => ["n=4000000", "steps=64"],
    "stencils/heat2d" => ["m=2000", "n=2000", "steps=32"],
    "stencils/jacobi2d9" => ["m=2000", "n=2000", "steps=32"],
    "stencils/gradient2d" => ["m=2000", "n=2000", "steps=32"],
    "stencils/star2d2r" => ["m=2000", "n=2000", "steps=32"],
    "stencils/fdtd2d" => ["nx=2000", "ny=2000", "steps=32"],
    "stencils/seidel2d" => ["n=2000", "steps=16"],
    "stencils/heat3d" => ["l=200", "m=200", "n=200", "steps=16"],
    "polybench/jacobi2d" => ["n=2000", "steps=32"],
    "polybench/gemm" => ["ni=500", "nj=550", "nk=600"],
    "polybench/syrk" => ["m=500", "n=600"],
    "polybench/mvt" => ["n=4000"],
    "polybench/gemver" => ["n=4000"],
    "polybench/doitgen" => ["nr=70", "nq=70", "np=80"],
]

struct Row
    name::String
    considered::Int
    proposed::Int
    timed::Int
    own::Float64
    guess::Union{Nothing,Float64}
    best::Float64
end

# Milliseconds, and nanoseconds for an instance as predicted (`nothing` where no model says), of each schedule timed.
function listed(text)
    found = Tuple{Float64,Union{Nothing,Float64}}[]
    for line in split(text, '\n')
        parts = match(r"^  ([0-9.]+) ms\s+(?:([0-9.]+) ns|-)", line)
        parts === nothing && continue
        push!(found, (parse(Float64, parts[1]), parts[2] === nothing ? nothing : parse(Float64, parts[2])))
    end
    return found
end

function tuned(name, sizes, budget)
    path = joinpath(ROOT, "tests", name * ".jl")
    words = `$TOOL tune $path --dry --list --budget $budget --size $sizes`
    output, errors = IOBuffer(), IOBuffer()
    done = success(pipeline(ignorestatus(words); stdout = output, stderr = errors))
    text = String(take!(output))
    counts = match(r"(\d+) schedules considered, (\d+) proposed by the models; (\d+) timed", text)
    own = match(r"untuned ([0-9.]+) ms", text)
    if !done || counts === nothing || own === nothing
        println(stderr, name, ": ", first(split(String(take!(errors)) * "\n", '\n')))
        return nothing
    end
    all = listed(text)
    predicted = [it for it in all if it[2] !== nothing]
    guess = isempty(predicted) ? nothing : predicted[argmin([it[2] for it in predicted])][1]
    untuned = parse(Float64, own[1])
    best = minimum([untuned; [it[1] for it in all]])
    return Row(name, parse.(Int, counts.captures)..., untuned, guess, best)
end

function table(rows)
    lines = ["| program | generated | left | timed | own (ms) | first guess (ms) | best (ms) | guess / best |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for row in rows
        guess = row.guess === nothing ? "-" : @sprintf("%.2f", row.guess)
        ratio = row.guess === nothing ? "-" : @sprintf("%.2f", row.guess / row.best)
        push!(lines, @sprintf("| %s | %d | %d | %d | %.2f | %s | %.2f | %s |", row.name, row.considered, row.proposed,
                              row.timed, row.own, guess, row.best, ratio))
    end
    return join(lines, '\n')
end

function write_table(text)
    document = read(DOCUMENT, String)
    occursin(BEGIN, document) || (document = rstrip(document) * "\n\n### Measured\n\n$BEGIN\n$END\n")
    start = last(findfirst(BEGIN, document))
    stop = first(findfirst(END, document))
    write(DOCUMENT, document[1:start] * "\n" * text * "\n" * document[stop:end])
end

function main(arguments)
    isfile(TOOL) || error("$TOOL is missing: run `./x build`")
    budget, to_document, names = 15.0, false, String[]
    for argument in arguments
        if startswith(argument, "--budget=")
            budget = parse(Float64, argument[length("--budget=")+1:end])
        elseif argument == "--write"
            to_document = true
        elseif startswith(argument, "--")
            error("options: --budget=SECONDS --write")
        else
            push!(names, argument)
        end
    end
    rows = Row[]
    for (name, sizes) in PROGRAMS
        isempty(names) || any(it -> occursin(it, name), names) || continue
        row = tuned(name, sizes, budget)
        row === nothing || push!(rows, row)
        row === nothing || println(last(split(table([row]), '\n')))
    end
    text = table(rows)
    println('\n', text)
    to_document && write_table(text)
end

end

TuningBench.main(ARGS)
