# PolyBench: functions compiled by Tessella, against plain Julia and against the same algorithms in C.
#
#     ./x bench polybench [OPTION ...] [NAME ...]
#     julia --project=julia-pkg benches/polybench.jl [OPTION ...] [NAME ...]
#
# Names choose kernels, as --kernels=NAME,NAME does (all thirty if none is given). Options, with what holds when they are not given:
#
#     --share=1               extents, as a share of PolyBench's LARGE ones
#     --types=Float32,Float64 floyd-warshall and nussinov use the integers of the same size
#     --threads=1,2           numbers of threads for Tessella and for Polly; all others use one
#     --others=gcc,clang,polly which C compilers to compare with, of those that are installed
#     --seconds=1             how long each measurement may go on; the fastest of its runs counts
#     --quick                 --share=0.1 --seconds=0.1
#     --results=FILE          where measurements are kept (target/polybench.tsv); those already there stay, unless they
#                             are measured again, so a long table can be made in parts
#     --missing               only kernels of which some of these measurements are not yet in the results file
#     --write                 write the table and the chart into docs/performance.md and docs/performance-polybench.svg
#     --only-write            the same, from the results file alone: nothing is measured
#     --prebuild=FOLDER       only compile the C kernels, for machines that lack these compilers (see ./x bundle)
#
# Every result is compared with plain Julia's first, bit for bit (deriche, which calls `exp`, within a bound). The script
# exits with 1 if one differs or a kernel does not run; such times are left out. What is timed is in benches/polybench/worker.jl, what the
# compilers are told in benches/polybench/compilers.jl.
module PolyBenchBench

using Printf

include(joinpath(@__DIR__, "polybench", "kernels.jl"))
include(joinpath(@__DIR__, "polybench", "compilers.jl"))
include(joinpath(@__DIR__, "polybench", "machine.jl"))
include(joinpath(@__DIR__, "polybench", "results.jl"))
include(joinpath(@__DIR__, "polybench", "table.jl"))
include(joinpath(@__DIR__, "polybench", "chart.jl"))

const ROOT = normpath(joinpath(@__DIR__, ".."))
const DOCUMENT = joinpath(ROOT, "docs", "performance.md")
const CHART = joinpath(ROOT, "docs", "performance-polybench.svg")
const BUNDLE = joinpath(ROOT, ".gpu-bundle", "polybench")

struct Options
    kernels::Vector{Any}
    "sizes of the elements in bytes"
    widths::Vector{Int}
    threads::Vector{Int}
    others::Vector{String}
    share::Float64
    seconds::Float64
    missing_only::Bool
    results::String
    write::Bool
    measure::Bool
    prebuild::String
end

const USAGE = "options: --share= --types= --threads= --others= --seconds= --quick --missing --results= --write --only-write " *
              "--prebuild=; see the head of benches/polybench.jl"

function parse_options(arguments)
    given = Dict{String,String}()
    names = String[]
    for argument in arguments
        startswith(argument, "--") || (push!(names, argument); continue)
        parts = split(argument[3:end], '='; limit = 2)
        given[parts[1]] = length(parts) == 2 ? parts[2] : ""
    end
    flag(name) = pop!(given, name, "no") != "no"
    list(name, default) = split(pop!(given, name, default), ','; keepempty = false)
    quick = flag("quick")
    append!(names, list("kernels", ""))
    known = [kernel.name for kernel in PolyBench.ALL]
    foreach(name -> name in known || refuse("no such kernel: $name; there are $(join(known, ", "))"), names)
    options = Options(
        filter(kernel -> isempty(names) || kernel.name in names, PolyBench.ALL),
        [width_of(name) for name in list("types", "Float32,Float64")],
        [number(Int, "threads", text) for text in list("threads", "1,2")],
        [String(name) for name in list("others", "gcc,clang,polly")],
        number(Float64, "share", pop!(given, "share", quick ? "0.1" : "1")),
        number(Float64, "seconds", pop!(given, "seconds", quick ? "0.1" : "1")),
        flag("missing"),
        abspath(pop!(given, "results", joinpath(ROOT, "target", "polybench.tsv"))),
        flag("write") | haskey(given, "only-write"), !flag("only-write"), pop!(given, "prebuild", ""))
    isempty(given) || refuse("no such option: --$(first(keys(given)))\n$USAGE")
    return options
end

refuse(text) = (println(stderr, "polybench: $text"); exit(2))

function number(T, option, text)
    parsed = tryparse(T, text)
    parsed === nothing || parsed <= 0 ? refuse("--$option needs a positive number, not $text") : parsed
end

function width_of(name)
    at = findfirst(==(name), ["Float32", "Float64"])
    return at === nothing ? refuse("--types knows Float32 and Float64, not $name") : 4at
end

# --- measuring --------------------------------------------------------------------------------------------------------

# A process that measures one sort of contender. It starts with the first question, and anew should it have ended.
mutable struct Worker
    command::Cmd
    process::Union{Nothing,Base.Process}
end

function worker(role, threads, flags = ``)
    command = `$(Base.julia_cmd()) --startup-file=no $flags --project=$(dirname(Base.active_project()))`
    script = joinpath(@__DIR__, "polybench", "worker.jl")
    environment = merge(ENV, Dict("OMP_NUM_THREADS" => string(threads), "TESSELLA_FALLBACK" => "0"))
    return Worker(setenv(`$command $script $role`, environment), nothing)
end

# Seconds of the fastest run, and "same", "differs" or "failed: why".
function ask(worker::Worker, question...)
    if worker.process === nothing || !process_running(worker.process)
        worker.process = open(worker.command, "r+")
    end
    answer = try
        println(worker.process, join(question, '\t'))
        readline(worker.process)
    catch failure
        failure isa Base.IOError || rethrow()
        ""
    end
    if isempty(answer)
        close(worker.process)
        worker.process = nothing
        return Measurement(NaN, "failed: the process ended")
    end
    seconds, verdict = split(answer, '\t'; limit = 2)
    return Measurement(parse(Float64, seconds), verdict)
end

# A worker ends when its questions do.
dismiss(worker::Worker) = worker.process === nothing || (close(worker.process); wait(worker.process))

# All contenders of one kernel are measured one right after the other, so that whatever else the machine is doing
# disturbs them alike.
function measure(options, results, contenders, libraries)
    plain = worker("plain", 1, `--check-bounds=no -O3`)
    ours = Dict(threads => worker("tessella", threads) for threads in options.threads)
    in_c = Dict(threads => worker("c", threads) for threads in union([1], options.threads))
    mktempdir() do folder
        reference = joinpath(folder, "reference")
        for width in options.widths, kernel in options.kernels
            options.missing_only && all(haskey(results.rows, key) for key in wanted(options, contenders, libraries, kernel, width)) &&
                continue
            T = element_type(kernel, width)
            print(rpad(kernel.name, 16), rpad(T, 9), rpad(join(dims(kernel, options.share), 'x'), 24))
            task = (kernel.name, width, options.share, options.seconds, reference)
            record(name, threads, measurement) = record!(results, kernel.name, width, name, threads, measurement)
            record("plain", 1, ask(plain, task..., ""))
            for threads in options.threads
                record("tessella", threads, ask(ours[threads], task..., ""))
            end
            for contender in contenders, threads in threads_of(contender, options)
                library = get(libraries, (contender.name, width), nothing)
                library === nothing && continue
                record(contender.name, threads, ask(in_c[threads], task..., library))
            end
            println()
            save(results, options.results)
            rm(reference; force = true)
        end
    end
    foreach(dismiss, [plain; collect(values(ours)); collect(values(in_c))])
end

threads_of(contender, options) = contender.parallel ? filter(>(1), options.threads) : [1]

# The rows that measuring one kernel makes.
function wanted(options, contenders, libraries, kernel, width)
    row(name, threads) = (kernel.name, width, name, threads)
    others = [row(contender.name, threads) for contender in contenders for threads in threads_of(contender, options)
              if haskey(libraries, (contender.name, width))]
    return [row("plain", 1); [row("tessella", threads) for threads in options.threads]; others]
end

function record!(results, kernel, width, contender, threads, measurement)
    results.rows[(kernel, width, contender, threads)] = measurement
    print("  ", contender, threads == 1 ? "" : "/$threads", " ")
    print(isnan(measurement.seconds) ? "FAILED" : milliseconds(measurement.seconds),
          measurement.verdict == "differs" ? " DIFFERS" : "")
    flush(stdout)
end

function main(arguments)
    options = parse_options(arguments)
    isempty(options.prebuild) || return prebuild(options)
    results = load_results(options.results, options.share)
    if options.measure
        mktempdir() do folder
            known = get(results.facts, "processor", processor())
            known == processor() ||
                refuse("$(options.results) holds results of another machine ($known): name another file with --results=")
            describe_machine!(results.facts, options, folder)
            contenders, libraries = c_libraries!(results.facts, options, folder)
            print_facts(results.facts)
            measure(options, results, contenders, libraries)
        end
    end
    isempty(results.rows) && refuse("there are no results in $(options.results) yet")
    foreach(width -> print_table(results, width), (8, 4))
    if options.write
        write_markdown(results, DOCUMENT, basename(CHART))
        write(CHART, chart(results))
        println("wrote $(relpath(DOCUMENT, ROOT)) and $(relpath(CHART, ROOT))")
    end
    return report_faults(results) ? nothing : exit(1)
end

end

PolyBenchBench.main(ARGS)
