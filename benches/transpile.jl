# How long it takes to transpile each function of the tests, for both targets: PolyBench's thirty, the examples, the stencils and
# the other programs.
#
#     ./x bench transpile [--runs=N] [NAME ...]
#     julia benches/transpile.jl [--runs=N] [NAME ...]
#
# Names choose files (without `.jl`). Each function is transpiled N times (3 if not given) by `target/release/tessella`, as a
# process of its own; the fastest counts. Both the time on the clock and the processor's time are printed: on a busy machine
# only the second means something. Functions that a target or the command line refuses (arguments without types, which Julia knows
# at the call) are left out. Exits with 1 if a function takes over 5 s of processor time.
module TranspileBench

using Printf

const ROOT = normpath(joinpath(@__DIR__, ".."))
const TESSELLA = joinpath(get(ENV, "CARGO_TARGET_DIR", joinpath(ROOT, "target")), "release", "tessella")
const TARGETS = ("c", "cuda")
"what no program may take, and what half of them may, in seconds"
const LIMIT, GOAL = 5.0, 0.15

# User and system time of all child processes that have ended, as getrusage(2) tells it: two pairs of seconds and
# microseconds come first.
function children_seconds()
    usage = zeros(Int, 32)
    ccall(:getrusage, Cint, (Cint, Ptr{Int}), -1, usage) == 0 || error("getrusage failed")
    return usage[1] + usage[3] + (usage[2] + usage[4]) / 1e6
end

const FOLDERS = ("tests/polybench", "examples", "examples/images", "examples/rodinia", "examples/vectors", "tests/stencils",
                 "tests/programs")

is_program(path) = endswith(path, ".jl") && !isempty(functions(path))

programs() = filter(is_program, [joinpath(ROOT, folder, file) for folder in FOLDERS for file in readdir(joinpath(ROOT, folder))])

# The names of a file's functions, whatever options stand between the macro and them.
function functions(path)
    found = map(line -> match(r"^@tessella\s+(?:\w+=\S+\s+)*(?:function\s+)?([^\s(]+)\(", line), eachline(path))
    return unique(String[it.captures[1] for it in found if it !== nothing])
end

"Processor's and clock's seconds of the fastest of some runs; `nothing` if the program is refused."
function measure(path, name, target, runs)
    best = (Inf, Inf)
    for _ in 1:runs
        before = children_seconds()
        clock = @elapsed done = success(pipeline(`$TESSELLA transpile $path --function $name --target $target`, stdout = devnull, stderr = devnull))
        done || return nothing
        best = min(best, (children_seconds() - before, clock))
    end
    return best
end

function main(arguments)
    options = filter(argument -> startswith(argument, "--"), arguments)
    runs = 3
    for option in options
        startswith(option, "--runs=") || error("options: --runs=")
        runs = parse(Int, option[length("--runs=")+1:end])
    end
    names = filter(argument -> !startswith(argument, "--"), arguments)
    name(path) = splitext(basename(path))[1]
    chosen = filter(path -> isempty(names) || name(path) in names, programs())
    isempty(chosen) && error("no such program")
    all = [(path, each, name(path) == each ? each : "$(name(path)): $each") for path in chosen for each in functions(path)]
    width = maximum(length(title) for (_, _, title) in all)
    println(rpad("function", width), "  target   processor       clock")
    seconds = Float64[]
    for (path, each, title) in all, target in TARGETS
        best = measure(path, each, target, runs)
        best === nothing && continue
        push!(seconds, best[1])
        @printf("%s  %s  %7.0f ms  %7.0f ms\n", rpad(title, width), rpad(target, 6), 1e3 * best[1], 1e3 * best[2])
    end
    isempty(seconds) && return false
    sorted = sort(seconds)
    median = (sorted[(end+1)÷2] + sorted[end÷2+1]) / 2
    @printf("median %.0f ms (goal: %.0f), maximum %.0f ms (limit: %.0f), of the processor's time\n",
            1e3 * median, 1e3 * GOAL, 1e3 * sorted[end], 1e3 * LIMIT)
    return sorted[end] <= LIMIT
end

end

TranspileBench.main(ARGS) || exit(1)
