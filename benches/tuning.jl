# How much of the search each model saves, and how far its first guess is from the tuned best.
#
#     julia benches/tuning.jl [--target=cuda] [--total=420 | --budget=15] [--jobs=1] [--cores=0-7] [--tool=PATH] [--output=FILE]
#                             [--keep=FOLDER] [--write] [NAME ...]
#
# Tunes all stencils of tests/stencils, the kernels of tests/polybench and the examples, nothing kept: on the CPU, or with
# `--target=cuda` on a GPU, larger ones. It needs a `tessella` binary (`--tool`; else target/release/tessella), a C compiler or a
# GPU's driver and NVRTC, and Julia, and no package. `--budget` is the time for
# each program, `--total` for all of them, which then share it; `--jobs` programs are tuned side by side, each on as many cores of
# its own (`taskset`) of those that `--cores` names. Names choose programs. What each model likes best is timed first, even beyond the budget, so that every row has its figure.
# `--output` writes the tables to a file, anew after each program; `--write` puts them into docs/models.md, between its marks, at
# the end. `--keep` has what was said of each program kept in a folder: started once more with it, after an interruption, the bench
# goes on with the programs that are missing there.
#
# Columns of the first table: the untuned time, the best one, and for each model the schedules or shapes that it looked at, how many
# it left, how many of those were timed, and how much longer the one that it likes best takes than the best of all. The second
# table sums them up.
module TuningBench

using Printf

const ROOT = normpath(joinpath(@__DIR__, ".."))
const DOCUMENT = joinpath(ROOT, "docs", "models.md")
marks(target) = target == "cuda" ? ("<!-- tuning on a GPU: begin -->", "<!-- tuning on a GPU: end -->") :
                ("<!-- tuning: begin -->", "<!-- tuning: end -->")

# The models as `tessella tune` names them, and the families of schedules that each proposes.
const MODELS = ["tiles" => ["space", "time_skew", "hexagonal", "overlapped"],
                "nests" => ["tiles"],
                "parallelograms" => ["parallelogram"],
                "streams" => ["stream"],
                "layout" => ["padding"],
                "no model" => ["variation"]]

struct Program
    file::String
    sizes::Vector{String}
end

title(program) = replace(replace(program.file, "tests/" => ""), ".jl" => "")

# Sizes of stencils whose arrays do not fit into the caches, by their named extents.
const PLANE = ["m=2000", "n=2000", "steps=16"]
const SPACE = ["l=160", "m=160", "n=160", "steps=8"]
const STENCILS = ["box2d2r" => PLANE, "box2d3r" => PLANE, "box2d4r" => PLANE, "fdtd2d" => ["nx=2000", "ny=2000", "steps=12"], "gradient2d" => PLANE,
                  "gradient3d" => SPACE, "heat2d" => PLANE, "heat3d" => SPACE, "jacobi1d" => ["n=4000000", "steps=32"], "jacobi2d9" => PLANE,
                  "jacobi3d27" => ["n=160", "steps=8"], "laplacian2d" => PLANE, "laplacian3d" => SPACE, "life" => PLANE,
                  "seidel2d" => ["n=2000", "steps=8"], "slanted1d" => ["steps=2000", "n=2000"],
                  "star2d2r" => PLANE, "star2d3r" => PLANE, "star2d4r" => PLANE, "star3d2r" => SPACE, "star3d3r" => SPACE,
                  "star3d4r" => SPACE, "swapped2d" => PLANE, "wave1d_levels" => ["steps=2000", "n=2000"],
                  "wave2d" => PLANE]

# PolyBench's LARGE extents are too long for a search; these take some milliseconds to some hundred.
const CUBIC = 400
const KERNELS = ["2mm", "3mm", "adi", "atax", "bicg", "cholesky", "correlation", "covariance", "deriche", "doitgen",
                 "durbin", "fdtd2d", "floyd_warshall", "gemm", "gemver", "gesummv", "gramschmidt", "heat3d", "jacobi1d",
                 "jacobi2d", "lu", "ludcmp", "mvt", "nussinov", "seidel2d", "symm", "syr2k", "syrk", "trisolv", "trmm"]
const SIDES = Dict("atax" => 2500, "bicg" => 2500, "gemver" => 2500, "gesummv" => 2500, "mvt" => 2500, "trisolv" => 2500,
                   "durbin" => 1500, "deriche" => 1500, "jacobi1d" => 400000, "jacobi2d" => 1000, "fdtd2d" => 800,
                   "seidel2d" => 800, "heat3d" => 80, "doitgen" => 70, "adi" => 300)

const EXAMPLES = ["gemm" => 400, "bicg" => 2500, "gesummv" => 2500, "doitgen" => 70, "mttkrp" => 80, "covariance" => 400,
                  "jacobi2d" => 1000, "heat2d" => 1000, "conv5x5" => 1500, "rgb2gray" => 1500, "images/gaussian" => 1500, "images/fusion" => 1500,
                  "images/edgedetector" => 1500, "images/rgbyuv420" => 1500, "images/warpaffine" => 1500,
                  "rodinia/hotspot" => 1000, "rodinia/pathfinder" => 2000, "rodinia/srad" => 800, "rodinia/lud" => 400,
                  "rodinia/needle" => 1500, "vectors/axpy" => 4000000, "vectors/dot" => 4000000, "vectors/transpose" => 2500]

# On a GPU: what does not fit into its second-level cache, and what keeps it busy for some hundred microseconds at least.
const LARGER = Dict("m=2000" => "m=4096", "n=2000" => "n=4096", "nx=2000" => "nx=4096", "ny=2000" => "ny=4096", "l=160" => "l=256",
                    "m=160" => "m=256", "n=160" => "n=256", "n=4000000" => "n=33554432", "steps=8" => "steps=16",
                    ("$name=1000" => "$name=2048" for name in ("m", "n", "p", "B_1", "B_2"))...)
const LARGER_SIDES = Dict(400 => 1024, 2500 => 8192, 1500 => 4096, 1000 => 4096, 800 => 4096, 70 => 160, 80 => 200, 300 => 1024, 400000 => 33554432,
                          4000000 => 33554432, 2000 => 4096)
larger(sizes::Vector{String}) = [get(LARGER, it, it) for it in sizes]
larger(side::Int) = get(LARGER_SIDES, side, side)

# Programs under `@fastmath`, by file and function.
const FAST = vcat(["tests/gpu/fast.jl gemm_fast!" => ["m=1000", "n=1000", "p=1000", "B_1=1000", "B_2=1000"]],
                  ["tests/gpu/fast_stencils.jl fast_$(name)!" => PLANE for name in ("star2d1r", "box2d1r", "star2d2r", "box2d2r", "gradient2d")],
                  ["tests/gpu/fast_stencils.jl fast_$(name)!" => SPACE for name in ("star3d1r", "star3d2r", "box3d1r")])

# Of files with several functions one is tuned.
const CHOSEN = Dict("examples/rgb2gray.jl" => "rgb2gray!")

# What counts time steps or colours is not as long as what counts points.
const TIMES = ("steps", "tsteps", "tmax", "niter", "iterations", "t_steps")
const COLOURS = ("colours", "channels")

# The path and the options of a file, after whose name a function's may stand.
function named(file)
    path, name = occursin(' ', file) ? split(file, ' ') : (file, get(CHOSEN, file, nothing))
    return name === nothing ? `$(joinpath(ROOT, path))` : `$(joinpath(ROOT, path)) --function $name`
end

# The sizes that a function has, which the tool names where it is asked about one that it does not have.
function size_names(tool, file)
    errors = IOBuffer()
    run(pipeline(ignorestatus(`$tool tune $(named(file)) --dry --budget 0 --size nothing_of_this_name=1`);
                 stdout = devnull, stderr = errors))
    found = match(r"it has ([^\n]*)", String(take!(errors)))
    return found === nothing ? String[] : split(strip(found[1]), r", *")
end

# Names such as `A_1` follow from the others, unless there are no others.
function sized(tool, file, side)
    names = size_names(tool, file)
    named = [name for name in names if !occursin(r"_\d+$", name)]
    extent(name) = name in TIMES ? 12 : name in COLOURS ? 3 : side
    return ["$name=$(extent(lowercase(name)))" for name in (isempty(named) ? names : named)]
end

# Those whose titles contain one of the names, or all.
function programs(tool, names, target, jobs)
    fitting = target == "cuda" ? larger : identity
    is_chosen(file) = isempty(names) || any(name -> occursin(name, title(Program(file, []))), names)
    stencils = [Program("tests/stencils/$name.jl", fitting(sizes)) for (name, sizes) in STENCILS]
    append!(stencils, [Program(file, fitting(sizes)) for (file, sizes) in FAST])
    others = [["tests/polybench/$name.jl" => get(SIDES, name, CUBIC) for name in KERNELS];
              ["examples/$name.jl" => side for (name, side) in EXAMPLES]]
    found = asyncmap(((file, side),) -> Program(file, sized(tool, file, fitting(side))),
                     [it for it in others if is_chosen(first(it))]; ntasks = jobs)
    return Program[[it for it in stencils if is_chosen(it.file)]; found]
end

"One schedule that was timed: its family, milliseconds, and what the models predict."
struct Timed
    family::String
    milliseconds::Float64
    predicted::Union{Nothing,Float64}
end

struct Row
    name::String
    own::Float64
    best::Float64
    "by model: looked at, and proposed"
    shares::Dict{String,Tuple{Int,Int}}
    timed::Vector{Timed}
end

function listed(text)
    found = Timed[]
    for line in split(text, '\n')
        parts = match(r"^  ([0-9.]+) ms\s+(?:([0-9.]+) ns(?:, [0-9.]+ B)?|-)\s+(\w+)  ", line)
        parts === nothing && continue
        push!(found, Timed(parts[3], parse(Float64, parts[1]), parts[2] === nothing ? nothing : parse(Float64, parts[2])))
    end
    return found
end

# What the tool says of a program: kept in a folder, if there is one, and taken from there if it is there.
function said(words, program, target, keep)
    path = keep === nothing ? nothing : joinpath(keep, target * "_" * replace(title(program), r"[/ ]" => "_") * ".txt")
    path !== nothing && isfile(path) && return read(path, String)
    output, errors = IOBuffer(), IOBuffer()
    done = success(pipeline(ignorestatus(words); stdout = output, stderr = errors))
    text = String(take!(output))
    if !done || !occursin(r"untuned [0-9.]+ ms", text)
        lines = [line for line in split(String(take!(errors)), '\n') if !isempty(line)]
        println(stderr, title(program), ": ", isempty(lines) ? "nothing came back" : first(lines))
        return nothing
    end
    path === nothing || write(path, text)
    return text
end

function tuned(tool, program, target, budget, cores, keep)
    size = isempty(program.sizes) ? `` : `--size $(program.sizes)`
    pinned = cores === nothing ? `` : `taskset -c $(first(cores))-$(last(cores))`
    words = `$pinned $tool tune $(named(program.file)) --target $target --dry --list --guesses --budget $budget $size`
    text = said(words, program, target, keep)
    text === nothing && return nothing
    own = match(r"untuned ([0-9.]+) ms", text)
    shares = Dict{String,Tuple{Int,Int}}()
    for found in eachmatch(r"^    ([a-z ]+): (\d+) considered, (\d+) proposed"m, text)
        shares[found[1]] = (parse(Int, found[2]), parse(Int, found[3]))
    end
    timed = listed(text)
    untuned = parse(Float64, own[1])
    return Row(title(program), untuned, minimum([untuned; [it.milliseconds for it in timed]]), shares, timed)
end

of_model(row, families) = [it for it in row.timed if it.family in families]

# How much longer than the best the timed schedule takes that a model likes best; without predictions the first.
function first_guess(row, families)
    mine = of_model(row, families)
    isempty(mine) && return nothing
    predicted = [it for it in mine if it.predicted !== nothing]
    guess = isempty(predicted) ? first(mine) : predicted[argmin([it.predicted for it in predicted])]
    return guess.milliseconds / row.best
end

# For a model: looked at, proposed, timed, guess / best.
function cells(row, model, families)
    looked, proposed = get(row.shares, model, (0, 0))
    looked == 0 && return ["-", "-"]
    guess = first_guess(row, families)
    return ["$looked, $proposed, $(length(of_model(row, families)))", guess === nothing ? "-" : @sprintf("%.2f", guess)]
end

function table(rows)
    heads = [[model * ": looked at, left, timed", "guess / best"] for (model, _) in MODELS]
    lines = ["| program | own (ms) | best (ms) | own / best | " * join(Iterators.flatten(heads), " | ") * " |",
             "| --- | ---: | ---: | ---: |" * repeat(" ---: |", 2 * length(MODELS))]
    for row in rows
        found = Iterators.flatten(cells(row, model, families) for (model, families) in MODELS)
        push!(lines, @sprintf("| %s | %.2f | %.2f | %.2f | %s |", row.name, row.own, row.best, row.own / row.best,
                              join(found, " | ")))
    end
    return join(lines, '\n')
end

function middle(values)
    isempty(values) && return nothing
    sorted = sort(values)
    half = length(sorted) ÷ 2
    return isodd(length(sorted)) ? sorted[half+1] : (sorted[half] + sorted[half+1]) / 2
end

function summary(rows)
    lines = ["| model | programs | looked at | left | left out | median guess / best | worst | guess is the best, of several |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for (model, families) in MODELS
        mine = [row for row in rows if haskey(row.shares, model)]
        isempty(mine) && continue
        looked = sum(row.shares[model][1] for row in mine)
        left = sum(row.shares[model][2] for row in mine)
        guesses = [guess for guess in (first_guess(row, families) for row in mine) if guess !== nothing]
        # Where a model had one schedule timed, the guess says nothing about its others.
        several = [first_guess(row, families) for row in mine if length(of_model(row, families)) > 1]
        told = isempty(guesses) ? ["-", "-", "-"] :
               [@sprintf("%.2f", middle(guesses)), @sprintf("%.2f", maximum(guesses)),
                "$(count(guess -> guess <= 1.0 + 1e-9, several)) of $(length(several))"]
        push!(lines, @sprintf("| %s | %d | %d | %d | %.0f %% | %s |", model, length(mine), looked, left,
                              100 * (1 - left / looked), join(told, " | ")))
    end
    return join(lines, '\n')
end

function write_table(text, target)
    document = read(DOCUMENT, String)
    opening, closing = marks(target)
    occursin(opening, document) || (document = rstrip(document) * "\n\n### Measured\n\n$opening\n$closing\n")
    start = last(findfirst(opening, document))
    stop = first(findfirst(closing, document))
    write(DOCUMENT, document[1:start] * "\n" * text * "\n" * document[stop:end])
end

# Tunes the programs, so many at a time.
function all_tuned(tool, chosen, target, budget, jobs, cores, keep, report)
    share = max(1, length(cores) ÷ jobs)
    rows = Vector{Union{Nothing,Row}}(nothing, length(chosen))
    next, done = Ref(0), Ref(0)
    @sync for job in 1:jobs
        @async while next[] < length(chosen)
            at = next[] += 1
            own = length(cores) == Sys.CPU_THREADS && jobs == 1 ? nothing : cores[((job-1)*share+1):(job*share)]
            rows[at] = tuned(tool, chosen[at], target, budget, own, keep)
            done[] += 1
            told = rows[at] === nothing ? "$(title(chosen[at])): no row" : last(split(table([rows[at]]), '\n'))
            println("$(done[]) of $(length(chosen)): $told")
            report(Row[row for row in rows if row !== nothing])
        end
    end
    return Row[row for row in rows if row !== nothing]
end

function main(arguments)
    tool = joinpath(ROOT, "target", "release", "tessella")
    budget, total, jobs, output, keep, to_document, names = 15.0, nothing, 1, nothing, nothing, false, String[]
    target, cores = "c", 0:Sys.CPU_THREADS-1
    for argument in arguments
        key, value = occursin('=', argument) ? split(argument, '='; limit = 2) : (argument, "")
        if key == "--budget"
            budget = parse(Float64, value)
        elseif key == "--total"
            total = parse(Float64, value)
        elseif key == "--jobs"
            jobs = max(1, parse(Int, value))
        elseif key == "--target" && value in ("c", "cuda")
            target = String(value)
        elseif key == "--cores"
            low, high = parse.(Int, split(value, '-'))
            cores = low:high
        elseif key == "--tool"
            tool = abspath(String(value))
        elseif key == "--output"
            output = String(value)
        elseif key == "--keep"
            keep = mkpath(String(value))
        elseif key == "--write"
            to_document = true
        elseif startswith(key, "--")
            error("options: --target=c|cuda --cores=FIRST-LAST --total=SECONDS --budget=SECONDS --jobs=COUNT --tool=PATH --output=FILE --keep=FOLDER --write")
        else
            push!(names, argument)
        end
    end
    isfile(tool) || error("$tool is missing: run `./x build`, or name one with `--tool=PATH`")
    begun = time()
    chosen = programs(tool, names, target, jobs)
    # The search of a program may end a little after its budget: a candidate that runs is waited for.
    total === nothing || (budget = 0.85 * (total - (time() - begun)) * jobs / max(1, length(chosen)))
    println(@sprintf("%d programs, %.1f s each, %d at a time", length(chosen), budget, jobs))
    threads = max(1, length(cores) ÷ jobs)
    device = target == "cuda" ? "the first GPU, beside " : ""
    how = @sprintf("%s%s, %d threads, %.0f s for each program", device, Sys.cpu_info()[1].model, threads, budget)
    tables(rows) = "$how.\n\n$(summary(rows))\n\n$(table(rows))"
    report(rows) = output === nothing || write(output, tables(rows) * "\n")
    text = tables(all_tuned(tool, chosen, target, budget, jobs, cores, keep, report))
    println('\n', text)
    to_document && write_table(text, target)
    return
end

end

TuningBench.main(ARGS)
