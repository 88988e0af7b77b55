# All examples, all PolyBench kernels and the programs with storage commands on the GPU, against plain Julia, bit for bit.
#
#     julia --project=julia-pkg tests/gpu/run.jl [--sizes=1,17] [--no-wrappers] [NAME ...]
#     julia --project=julia-pkg tests/gpu/run.jl language [--part=K/N] [--beginning=NAME] [--beside=c]
#     julia --project=julia-pkg tests/gpu/run.jl --bench|--sanitize ...
#
# Where nvcc is found, the printed .cu files are compiled as they are, too, and their host wrappers called; not with
# --no-wrappers. With --beside=c, constructs of the language are compared with what they do on the CPU, where plain Julia has no
# library for products of matrices. Names choose among the programs; stencils under several schedules run only if they are named. Exits with 1 if
# a result differs. With --bench, times are taken instead: see bench.jl; --sanitize: see sanitize.jl.

using Tessella
using Libdl
using Printf

include("cases.jl")
include("bench.jl")
include("stencils.jl")
include("slices.jl")
include("resident.jl")
include("language.jl")
include("sanitize.jl")

# `nothing` if compiled code and plain Julia agree, else what went wrong. Where plain Julia throws, as stencils with a source do at one point a
# side, compiled code has to throw the same type.
function fault(case, T, n)
    arguments = case.inputs(T, n)
    attempt(f) =
        try
            Examples.run_on_copies(f, arguments)
        catch error
            error
        end
    expected, actual = attempt(Tessella.original(case.f)), attempt(case.f)
    actual isa Exception && typeof(actual) == typeof(expected) && return nothing
    actual isa Exception && return sprint(showerror, actual)
    expected isa Exception && return "no $(typeof(expected)), which plain Julia throws"
    return case.agree(actual, expected) ? nothing : "differs"
end

with_own_schedule(work, case) =
    isempty(case.schedule) ? work() : with_commands(work, case.f, case.schedule, "$(case.name).jl")

# The sizes to run a case at: its own, or those given that it has arguments for.
sizes_of(case, given) = given === nothing ? case.sizes : filter(n -> n >= minimum(case.sizes), given)

function check(cases, sizes)
    passed = failed = 0
    faults = Dict{String,Vector{String}}()
    for case in cases, T in case.types
        Tessella.retarget!(case.f, :cuda)
        print(rpad(case.name, 26), rpad(T, 9))
        for n in sizes_of(case, sizes)
            reason = with_own_schedule(() -> fault(case, T, n), case)
            if reason === nothing
                passed += 1
            else
                failed += 1
                push!(get!(() -> String[], faults, reason), "$(case.name) $T $n")
            end
            good = reason === nothing
            printstyled(good ? lpad(n, 5) : lpad("$n FAIL", 9); color = good ? :green : :red)
            flush(stdout)
        end
        println()
    end
    for reason in sort!(collect(keys(faults)))
        println("\n", join(faults[reason], ", "), ":\n", reason)
    end
    return passed, failed
end

# Programs in slices, where few bytes stand for the GPU's memory.
function check_slices(arguments)
    isempty(arguments) || "slices" in arguments || return 0, 0
    passed, faults = Slices.check()
    println("in slices: ", passed, " agree")
    foreach(fault -> printstyled(fault, "\n"; color = :red), faults)
    return passed, length(faults)
end

# Programs over arrays that are on the GPU.
function check_resident(arguments)
    isempty(arguments) || "resident" in arguments || return 0, 0
    passed, faults = Resident.check()
    println("on the GPU: ", passed, " agree")
    foreach(fault -> printstyled(fault, "\n"; color = :red), faults)
    return passed, length(faults)
end

# Every construct of the language, or each N-th one from the K-th on.
function check_language(arguments, part, beginning, beside)
    "language" in arguments || return 0, 0
    passed, faults = GpuLanguage.check(part..., beginning, beside)
    foreach(fault -> printstyled(fault, "\n"; color = :red), faults)
    return passed, length(faults)
end

# --- the printed .cu, compiled by nvcc ---------------------------------------------------------------------------------

# The host wrapper of the code printed for these argument types, and the name of its function in C.
function nvcc_wrapper(case, types, folder)
    text = string(Tessella.code_cuda(case.f, types))
    name = match(r"extern \"C\" int32_t (\w+)\("s, text)
    name === nothing && error("the printed CUDA has no host wrapper")
    stem = joinpath(folder, "$(case.name)_$(join(types, '_') |> hash)")
    write("$stem.cu", text)
    run(pipeline(`nvcc -O3 -arch=native -fmad=false -Xcompiler -fPIC -shared -o $stem.so $stem.cu`; stderr = "$stem.log"))
    return dlsym(dlopen("$stem.so"), name.captures[1])
end

# Runs the wrapper on copies of the arguments: its status, the numbers that it gives back in place of these, and the arguments
# as they are afterwards.
function run_wrapper(wrapper, arguments, numbers)
    copies = map(copy_array, arguments)
    types, values = Any[], Any[]
    for argument in copies
        push!(types, argument isa AbstractArray ? Ptr{eltype(argument)} : typeof(argument))
        push!(values, argument)
        if argument isa AbstractArray
            append!(types, fill(Int64, ndims(argument)))
            append!(values, size(argument))
        end
    end
    places = map(number -> Ref(zero(number)), numbers)
    for (number, place) in zip(numbers, places)
        push!(types, Ptr{typeof(number)})
        push!(values, place)
    end
    status = eval(:(ccall($wrapper, Int32, ($(types...),), $(values...))))
    return status, map(getindex, places), copies
end

# The numbers that a function gives back, one or several.
numbers_of(returned) = returned isa Number ? (returned,) : returned isa Tuple{Vararg{Number}} ? returned : ()

function wrapper_fault(wrapper, case, T, n)
    arguments = case.inputs(T, n)
    returned, expected = Examples.run_on_copies(Tessella.original(case.f), arguments)
    status, numbers, actual = run_wrapper(wrapper, arguments, numbers_of(returned))
    status == 0 || return "the wrapper returned $status"
    # What else a function gives back is one of its arguments.
    outcome(numbers, arguments) = (length(numbers) == 1 ? numbers[1] : numbers, arguments)
    return case.agree(outcome(numbers, actual), outcome(numbers_of(returned), expected)) ? nothing : "differs"
end

function check_wrappers(cases)
    if Sys.which("nvcc") === nothing
        println("\nprinted .cu files: skipped, no nvcc on the PATH")
        return 0, 0
    end
    println("\nthe printed .cu files, compiled by nvcc, sizes 1, 17 and $LARGE_TEST")
    flush(stdout)
    passed = failed = 0
    mktempdir() do folder
        for case in cases, T in case.types
            reason = try
                wrapper = nvcc_wrapper(case, map(typeof, case.inputs(T, 17)), folder)
                reasons = [wrapper_fault(wrapper, case, T, n) for n in (1, 17, LARGE_TEST)]
                join(unique(filter(reason -> reason !== nothing, reasons)), "; ")
            catch error
                sprint(showerror, error)
            end
            isempty(reason) ? (passed += 1) : (failed += 1)
            println(rpad(case.name, 26), rpad(T, 9), isempty(reason) ? "ok" : reason)
            flush(stdout)
        end
    end
    return passed, failed
end

function main(arguments)
    ENV["TESSELLA_FALLBACK"] = "0"
    println("device: ", device_name())
    println("Julia ", VERSION, "\n")
    "--bench" in arguments && "stencils" in arguments &&
        return Stencils.main(filter(argument -> !(argument in ("--bench", "stencils")), arguments))
    "--bench" in arguments && "resident" in arguments && return (Resident.bench(); true)
    "--bench" in arguments && return Bench.main(filter(argument -> argument != "--bench", arguments), CASES)
    "--sanitize" in arguments &&
        return Sanitize.main(filter(argument -> argument != "--sanitize", arguments), [CASES; EDGES; Stencils.cases()])
    sizes, wrappers, names, part, beginning, beside = nothing, true, String[], (0, 1), "", nothing
    for argument in arguments
        if startswith(argument, "--sizes=")
            sizes = [parse(Int, it) for it in split(argument[9:end], ',')]
        elseif argument == "--no-wrappers"
            wrappers = false
        elseif startswith(argument, "--beginning=")
            beginning = argument[13:end]
        elseif argument == "--beside=c"
            beside = :c
        elseif startswith(argument, "--part=")
            part = Tuple(parse(Int, it) for it in split(argument[8:end], '/'))
        elseif startswith(argument, "--")
            error("tests/gpu/run.jl does not know `$argument`")
        else
            push!(names, argument)
        end
    end
    cases = isempty(names) ? [CASES; EDGES] : filter(case -> case.name in names, [CASES; EDGES; Stencils.cases()])
    passed, failed = check(cases, sizes) .+ (wrappers ? check_wrappers(cases) : (0, 0)) .+ check_slices(names) .+ check_resident(names) .+
                     check_language(names, part, beginning, beside)
    println("\n$passed passed, $failed failed")
    return failed == 0 && passed > 0
end

main(ARGS) || exit(1)
