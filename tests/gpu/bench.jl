# Times on a GPU: kernels with their data resident, and whole calls, beside what the GPU reaches at most.
#
#     ./x gpu --bench [OPTION ...] [NAME ...]
#
#     NAME ...              these programs (see `--list`); all if none is named
#     --list                the names, and the extents that they are timed at
#     --set=WORD            programs whose names begin with WORD, such as polybench
#     --type=Float32        this element type alone
#     --extents=4096x4096   other extents
#     --schedule=FILE       times the program under this schedule, too; may be given again. FILE holds commands, or a
#                           `@schedule f! begin ... end` block. Needs one NAME
#     --repeat=7            how often each kind of measurement is made
#     --check=small         compares with plain Julia at sizes 17 and $LARGE_TEST first (default); `full` compares the
#                           timed call with Tessella's C code, too, and `julia` with plain Julia, which may take minutes;
#                           `none` trusts
#     --kernels             prints each program's profile
#
# "of copy" is the share of what a copy of 512 MiB reaches, "of like" that of a kernel which copies as many bytes as the program moves:
# a small program cannot reach the rate of a large copy.
#
# Writes the table to \$OUT/bench.txt, and with all figures to \$OUT/bench.tsv, if OUT is set.
module Bench

using Printf
using Tessella
using ..Main: with_commands

# What the options say.
struct Plan
    names::Vector{String}
    sets::Vector{String}
    types::Vector{String}
    extents::Union{Nothing,Tuple{Vararg{Int}}}
    schedules::Vector{String}
    repeat::Int
    check::String
    kernels::Bool
    list::Bool
end

# One line of the table.
struct Timed
    name::String
    variant::String
    type::String
    extents::String
    "seconds"
    kernels::Float64
    call::Float64
    copies::Float64
    "`nothing` where counting takes too long"
    bytes::Union{Nothing,Int}
    float32::Union{Nothing,Int}
    float64::Union{Nothing,Int}
    exact::Bool
    "of the GPU's copying and computing"
    of_copy::Union{Nothing,Float64}
    "of a kernel that copies as many bytes, started as these are; `nothing` for more than \$LARGEST_COPY bytes"
    of_like_copy::Union{Nothing,Float64}
    of_peak::Union{Nothing,Float64}
    launches::Int
    "what went wrong, or how the result was checked"
    checked::String
end

function Plan(arguments)
    option(name) = String[argument[length(name)+4:end] for argument in arguments if startswith(argument, "--$name=")]
    last_of(name, default) = (given = option(name); isempty(given) ? default : given[end])
    known = ("set", "type", "extents", "schedule", "repeat", "check")
    for argument in arguments
        startswith(argument, "--") || continue
        argument in ("--kernels", "--list") || any(name -> startswith(argument, "--$name="), known) ||
            error("--bench does not know `$argument`: see the head of tests/gpu/bench.jl")
    end
    extents = last_of("extents", "")
    return Plan(filter(argument -> !startswith(argument, "--"), arguments), option("set"), option("type"),
                isempty(extents) ? nothing : Tuple(parse(Int, word) for word in split(extents, 'x')),
                option("schedule"), parse(Int, last_of("repeat", "7")), last_of("check", "small"),
                "--kernels" in arguments, "--list" in arguments)
end

is_chosen(plan::Plan, case) =
    isempty(plan.names) && isempty(plan.sets) || case.name in plan.names || any(set -> startswith(case.name, set), plan.sets)

function main(arguments, cases)
    plan = Plan(arguments)
    unknown = filter(name -> !any(case -> case.name == name, cases), plan.names)
    isempty(unknown) || error("there is no program `$(join(unknown, "`, `"))`: see --list")
    chosen = filter(case -> is_chosen(plan, case), cases)
    if plan.list
        foreach(case -> println(rpad(case.name, 28), join(case.large, 'x'), "  ", join(case.types, ", ")), chosen)
        return true
    end
    isempty(plan.schedules) || length(chosen) == 1 || error("--schedule needs one program")
    timed = Timed[]
    ceilings = nothing
    faults = String[]
    for case in chosen, T in case.types
        isempty(plan.types) || string(T) in plan.types || continue
        for schedule in ["auto"; plan.schedules]
            line, profile = try
                with_schedule(() -> time_case(plan, case, T, schedule == "auto" ? "" : basename(schedule)), case, schedule)
            catch failure
                push!(faults, "$(case.name) $T $schedule: $(sprint(showerror, failure))")
                println(rpad("$(case.name) $T", 36), first(split(sprint(showerror, failure), '\n')))
                continue
            end
            ceilings === nothing && print_ceilings(profile)
            ceilings = profile
            push!(timed, line)
            println(row(line))
            plan.kernels && println(profile.table)
            startswith(line.checked, "differs") && push!(faults, "$(case.name) $T $schedule: $(line.checked)")
            flush(stdout)
        end
    end
    ceilings === nothing || save(timed, ceilings, faults)
    isempty(faults) || println("\n", length(faults), " failed:\n", join(faults, "\n"))
    return isempty(faults) && !isempty(timed)
end

# Runs `work` with the schedule in a file instead of the program's own; "auto" is what stands in the program.
function with_schedule(work, case, schedule)
    schedule == "auto" && return work()
    text = read(schedule, String)
    block = match(r"@schedule[^\n]*\bbegin\b(.*)\bend\b"s, text)
    commands = block === nothing ? text : String(block.captures[1])
    return with_commands(work, case.f, commands, schedule)
end

# A file that processes share which time on the same GPU one after the other.
const LOCK = "TESSELLA_BENCH_LOCK"

# Runs `work` while none of the others that share the file does so.
function alone(work)
    path = get(ENV, LOCK, "")
    isempty(path) && return work()
    file = open(path, "a")
    try
        exclusive = 2
        ccall(:flock, Cint, (Cint, Cint), fd(file), exclusive) == 0 || error("cannot lock $path")
        return work()
    finally
        close(file)
    end
end

# Profiles a case with these arguments, after the check: the profile, and what the check said.
function profile_case(plan::Plan, case, T, arguments = case.at(T, (plan.extents === nothing ? case.large : plan.extents)...))
    Tessella.retarget!(case.f, :cuda)
    # Compiles, while others time, and runs on a few elements.
    haskey(ENV, LOCK) && run_on_copies(case.f, case.inputs(T, 17))
    return alone() do
        checked = plan.check == "none" ? "unchecked" : small_check(case, T)
        return Tessella.profile(case.f, map(fresh, arguments)...; repeat = plan.repeat), checked
    end
end

# The bytes or operations of all kernels; `nothing` where they are not known of one.
counted(profile, field) = any(kernel -> getfield(kernel, field) === nothing, profile.kernels) ? nothing :
    sum(Int[getfield(kernel, field) for kernel in profile.kernels])

function time_case(plan::Plan, case, T, variant)
    extents = plan.extents === nothing ? case.large : plan.extents
    arguments = case.at(T, extents...)
    profile, checked = profile_case(plan, case, T, arguments)
    if plan.check in ("full", "julia") && checked == "small"
        checked = timed_check(plan, case, arguments) ? plan.check : "differs at $extents"
    end
    call = alone(() -> whole_call(case.f, map(fresh, arguments), profile.kernels_time))
    read, written, float32, float64 = map(it -> counted(profile, it), (:read_bytes, :written_bytes, :float32, :float64))
    bytes = read === nothing || written === nothing ? nothing : read + written
    time = profile.kernels_time
    of_copy = bytes === nothing ? nothing : bytes / time / profile.copy_ceiling
    of_like_copy = bytes === nothing || !(0 < bytes <= LARGEST_COPY) ? nothing : copy_time(bytes, plan.repeat) / time
    of_peak = float32 === nothing || float64 === nothing ? nothing :
        (float32 / profile.float32_ceiling + float64 / profile.float64_ceiling) / time
    return Timed(case.name, variant, string(T), join(extents, 'x'), time, call,
                 profile.copied_in.time + profile.copied_out.time, bytes, float32, float64,
                 all(kernel -> kernel.exact, profile.kernels), of_copy, of_like_copy, of_peak,
                 sum(Int[kernel.launches for kernel in profile.kernels]), checked), profile
end

# More than this is large enough for the rate of a large copy to be what can be reached.
const LARGEST_COPY = 2^28

@tessella target=:cuda function copied!(to::Vector{Float32}, from::Vector{Float32})
    for i in 1:length(to)
        to[i] = from[i]
    end
    return to
end

const COPY_TIMES = Dict{Int,Float64}()

# Seconds of a kernel that reads and writes so many bytes in all and does nothing else: what a start costs, and the time until all
# multiprocessors have work, are in it.
copy_time(bytes, repeat) = get!(COPY_TIMES, cld(bytes, 8)) do
    from = ones(Float32, cld(bytes, 8))
    Tessella.profile(copied!, zero(from), from; repeat = repeat).kernels_time
end

fresh(argument) = argument isa AbstractArray ? copy(argument) : argument

function run_on_copies(f, arguments)
    copies = map(fresh, arguments)
    return f(copies...), copies
end

function small_check(case, T)
    for n in (17, 257)
        arguments = case.inputs(T, n)
        expected = run_on_copies(Tessella.original(case.f), arguments)
        case.agree(run_on_copies(case.f, arguments), expected) || return "differs from Julia at $n"
    end
    return "small"
end

# Whether the timed call does what C or plain Julia does.
function timed_check(plan, case, arguments)
    actual = run_on_copies(case.f, arguments)
    plan.check == "julia" && return case.agree(actual, run_on_copies(Tessella.original(case.f), arguments))
    Tessella.retarget!(case.f, :c)
    expected = run_on_copies(case.f, arguments)
    Tessella.retarget!(case.f, :cuda)
    return case.agree(actual, expected)
end

# Seconds of a whole call, copies included: the median of some runs on the same arguments, or of one that takes long.
function whole_call(f, arguments, kernels)
    kernels > 2 && return @elapsed f(arguments...)
    f(arguments...)
    times, start = Float64[], time()
    while length(times) < 9 && (length(times) < 2 || time() - start < 2)
        push!(times, @elapsed f(arguments...))
    end
    return sort(times)[(length(times)+1)÷2]
end

# --- the table --------------------------------------------------------------------------------------------------------

function print_ceilings(profile)
    println(ceilings_line(profile))
    println(HEAD)
end

ceilings_line(profile) = @sprintf("%s: copies %.0f GB/s, computes %.2f TFLOP/s in Float32, %.2f TFLOP/s in Float64",
                                  profile.device, profile.copy_ceiling / 1e9, profile.float32_ceiling / 1e12,
                                  profile.float64_ceiling / 1e12)

const HEAD = rpad("program", 30) * rpad("type", 9) * lpad("extents", 20) * lpad("kernels ms", 12) * lpad("GB/s", 8) *
             lpad("of copy", 9) * lpad("of like", 9) * lpad("GFLOP/s", 10) * lpad("of peak", 9) * lpad("call ms", 11) * lpad("copies ms", 11) *
             lpad("call/parts", 12) * lpad("launches", 10) * "  checked"

number(value, digits) = value === nothing ? "-" : string(round(value; digits = digits))
percent(value) = value === nothing ? "-" : @sprintf("%.0f %%", 100 * value)

function row(line::Timed)
    most = line.exact ? "" : "<="
    bandwidth = line.bytes === nothing ? "-" : @sprintf("%s%.0f", most, line.bytes / line.kernels / 1e9)
    operations = line.float32 === nothing ? 0 : line.float32 + line.float64
    rate = operations == 0 ? "-" : @sprintf("%.0f", operations / line.kernels / 1e9)
    name = isempty(line.variant) ? line.name : "$(line.name) [$(line.variant)]"
    return rpad(name, 30) * rpad(line.type, 9) * lpad(line.extents, 20) * lpad(@sprintf("%.4f", 1e3line.kernels), 12) *
           lpad(bandwidth, 8) * lpad(percent(line.of_copy), 9) * lpad(percent(line.of_like_copy), 9) * lpad(rate, 10) *
           lpad(operations == 0 ? "-" : percent(line.of_peak), 9) * lpad(@sprintf("%.3f", 1e3line.call), 11) *
           lpad(@sprintf("%.3f", 1e3line.copies), 11) *
           lpad(@sprintf("%.2f", line.call / (line.copies + line.kernels)), 12) * lpad(line.launches, 10) * "  " *
           line.checked
end

function save(timed, ceilings, faults)
    folder = get(ENV, "OUT", "")
    isempty(folder) && return nothing
    open(joinpath(folder, "bench.txt"), "w") do io
        println(io, ceilings_line(ceilings), "\n", HEAD)
        foreach(line -> println(io, row(line)), timed)
        foreach(fault -> println(io, fault), faults)
    end
    open(joinpath(folder, "bench.tsv"), "w") do io
        println(io, join(fieldnames(Timed), '\t'))
        foreach(line -> println(io, join((getfield(line, field) for field in fieldnames(Timed)), '\t')), timed)
    end
    return nothing
end

end
