# Programs under compute-sanitizer: accesses out of bounds, races, barriers in divergent code, reads of what nothing wrote.
#
#     ./x gpu --sanitize [TOOL ...] [NAME ...]
#
#     TOOL ...              memcheck, racecheck, synccheck, initcheck; all four if none is named
#     NAME ...              these programs (see `--list`); all if none is named
#     language:BEGINNING    the constructs of the language whose names begin so (`tests/language`), at sizes of their own
#     --list                the names: those of the tests, and the stencils, one for each kind of schedule
#     --sizes=0,1,17,67     other sizes; a program leaves out those that it has no arguments for
#     --jobs=16             processes side by side; as many as there are processors
#
# A process takes some programs through one tool. If that finds something, or a result differs, each of them is taken
# through it once more by itself, and what was found follows the program's line. Exits with 1 then. Writes all that the tools
# said to $OUT/sanitize, if OUT is set.
module Sanitize

const TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]
# Nothing, one element, and primes below and above a warp and a tile.
const SIZES = [0, 1, 17, 67]
# Programs that share a process, so that Julia starts less often.
const TOGETHER = 5
# What names of constructs begin with.
const LANGUAGE = "language:"
# What `compute-sanitizer` ends with if it found something, and what stands for its last line that tells how much, missing.
const FOUND, SILENT = 9, 10
const NOTHING_FOUND = r"^=+ (ERROR|RACECHECK) SUMMARY: 0 "m

struct Job
    tool::String
    names::Vector{String}
end

struct Outcome
    job::Job
    status::Int
    said::String
end

function main(arguments, cases)
    option(name, default) = (given = filter(it -> startswith(it, "--$name="), arguments);
                             isempty(given) ? default : given[end][length(name)+4:end])
    for argument in filter(it -> startswith(it, "--"), arguments)
        argument == "--list" || startswith(argument, "--sizes=") || startswith(argument, "--jobs=") ||
            error("--sanitize does not know `$argument`: see the head of tests/gpu/sanitize.jl")
    end
    words = filter(it -> !startswith(it, "--"), arguments)
    tools, names = filter(in(TOOLS), words), filter(!in(TOOLS), words)
    known = map(case -> case.name, cases)
    unknown = filter(it -> !startswith(it, LANGUAGE), setdiff(names, known))
    isempty(unknown) || error("there is neither a tool nor a program `$(join(unknown, "`, `"))`: see --list")
    chosen = isempty(names) ? known : names
    if "--list" in arguments
        foreach(println, chosen)
        return true
    end
    program = sanitizer()
    if program === nothing
        println("nothing was checked: compute-sanitizer is neither on the PATH nor in /usr/local/cuda/bin")
        return false
    end
    sizes = option("sizes", join(SIZES, ','))
    programs, constructs = filter(!startswith(LANGUAGE), chosen), filter(startswith(LANGUAGE), chosen)
    groups = [programs[first:min(first + TOGETHER - 1, end)] for first in 1:TOGETHER:length(programs)]
    append!(groups, [[it] for it in constructs])
    jobs = [Job(tool, group) for group in groups for tool in (isempty(tools) ? TOOLS : tools)]
    println(length(chosen), " programs at sizes ", sizes, ", ", length(jobs), " processes")
    flush(stdout)
    width = maximum(length, chosen)
    bad = asyncmap(job -> take(program, job, sizes, width), jobs; ntasks = parse(Int, option("jobs", string(Sys.CPU_THREADS))))
    println("\n", length(chosen) * length(jobs) ÷ max(length(groups), 1) - sum(bad), " clean, ", sum(bad), " not")
    return sum(bad) == 0
end

function sanitizer()
    found = Sys.which("compute-sanitizer")
    usual = "/usr/local/cuda/bin/compute-sanitizer"
    return found !== nothing ? found : isfile(usual) ? usual : nothing
end

# Takes a job's programs through its tool and prints a line for each; how many are not clean.
function take(program, job, sizes, width)
    together = run_job(program, job, sizes)
    if together.status == 0
        foreach(name -> println(rpad(job.tool, 11), rpad(name, width), "  clean"), job.names)
        flush(stdout)
        return 0
    end
    length(job.names) == 1 && return tell(together, width)
    alone = [run_job(program, Job(job.tool, [name]), sizes) for name in job.names]
    bad = sum(Int[tell(it, width) for it in alone])
    bad > 0 && return bad
    # What only happens to programs that share a process is no less wrong.
    println(rpad(job.tool, 11), "not clean together: ", join(job.names, ' '), '\n', excerpt(together))
    return 1
end

# One program's line, and what was said against it.
function tell(outcome, width)
    verdict = outcome.status == 0 ? "clean" : outcome.status == FOUND ? "FOUND" :
              outcome.status == SILENT ? "FAILED (the tool reports no end)" : "FAILED (exit status $(outcome.status))"
    println(rpad(outcome.job.tool, 11), rpad(only(outcome.job.names), width), "  ", verdict)
    outcome.status == 0 || println(excerpt(outcome))
    flush(stdout)
    return outcome.status == 0 ? 0 : 1
end

function excerpt(outcome)
    lines = split(outcome.said, '\n')
    about = filter(line -> startswith(line, "=========") || occursin("FAIL", line), lines)
    return join(first_few(isempty(about) ? lines[max(1, end - 15):end] : about, 40), '\n')
end

first_few(lines, count) = lines[1:min(count, length(lines))]

# What tests/gpu/run.jl is given for a program.
words_of(name) = startswith(name, LANGUAGE) ? ["language", "--beginning=$(name[length(LANGUAGE)+1:end])"] : [name]

function run_job(program, job, sizes)
    julia = Sys.which("julia")
    command = `$program --tool $(job.tool) --target-processes all --error-exitcode $FOUND
               $(julia === nothing ? Base.julia_cmd() : julia) --startup-file=no --project=julia-pkg tests/gpu/run.jl
               --sizes=$sizes --no-wrappers $(reduce(vcat, map(words_of, job.names)))`
    log = tempname()
    process = run(pipeline(ignorestatus(command); stdout = log, stderr = log, append = true))
    said = read(log, String)
    rm(log)
    folder = get(ENV, "OUT", "")
    if !isempty(folder)
        mkpath(joinpath(folder, "sanitize"))
        write(joinpath(folder, "sanitize", "$(job.tool)_$(replace(first(job.names), LANGUAGE => ""))_$(length(job.names)).txt"), said)
    end
    # A process that a signal ended has the exit status 0.
    status = process.termsignal == 0 ? process.exitcode : 128 + process.termsignal
    return Outcome(job, status == 0 && !occursin(NOTHING_FOUND, said) ? SILENT : status, said)
end

end
