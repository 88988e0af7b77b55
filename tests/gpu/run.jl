# All examples, all PolyBench kernels and the programs with storage commands on the GPU, against plain Julia, bit for bit.
#
#     julia --project=julia-pkg tests/gpu/run.jl [--bench] [NAME ...]
#
# Where nvcc is found, the printed .cu files are compiled as they are, too, and their host wrappers called. --bench adds
# a table of times; names choose among them. Exits with 1 if a result differs.

using Tessella
using Libdl
using Printf

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))
include(joinpath(@__DIR__, "..", "polybench", "registry.jl"))
include(joinpath(@__DIR__, "..", "storage", "registry.jl"))

function device_name()
    try
        return join(readlines(`nvidia-smi --query-gpu=name --format=csv,noheader`), ", ")
    catch
        return "unknown (no nvidia-smi)"
    end
end

const LARGE_TEST = 257

# An example or a kernel.
struct Case
    name::String
    f::Function
    inputs::Function
    types::Vector{DataType}
    sizes::Vector{Int}
    "whether two outcomes of `Examples.run_on_copies` agree"
    agree::Function
    "the extents of `large_inputs`"
    large::String
    large_inputs::Function
end

Case(it::Examples.Example) =
    Case(it.name, it.f, it.inputs, it.types, [Examples.SIZES..., LARGE_TEST], Examples.agree, string(it.large),
         T -> it.inputs(T, it.large))

Case(it::PolyBench.Kernel) =
    Case("polybench_" * replace(it.name, "-" => "_"), it.f, (T, n) -> PolyBench.inputs(it, T, n), it.types,
         [it.sizes; LARGE_TEST], (actual, expected) -> PolyBench.agree(it, actual, expected), join(it.large, 'x'),
         T -> PolyBench.large_inputs(it, T))

Case(it::Storage.Program) =
    Case("storage_" * it.name, it.f, it.inputs, it.types, [Storage.SIZES..., LARGE_TEST], Examples.agree, "1024",
         T -> it.inputs(T, 1024))

const CASES = Case[map(Case, Examples.ALL); map(Case, PolyBench.ALL);
                   map(Case, filter(it -> it.target === :cuda, Storage.ALL))]

# `nothing` if compiled code and plain Julia agree, else what went wrong.
function fault(case, T, n)
    try
        arguments = case.inputs(T, n)
        expected = Examples.run_on_copies(Tessella.original(case.f), arguments)
        return case.agree(Examples.run_on_copies(case.f, arguments), expected) ? nothing : "differs"
    catch error
        return sprint(showerror, error)
    end
end

function check(cases)
    passed = failed = 0
    faults = Dict{String,Vector{String}}()
    for case in cases, T in case.types
        Tessella.retarget!(case.f, :cuda)
        print(rpad(case.name, 26), rpad(T, 9))
        for n in case.sizes
            reason = fault(case, T, n)
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

# Runs the wrapper on copies of the arguments: its status, and the arguments as they are afterwards.
function run_wrapper(wrapper, arguments)
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
    status = eval(:(ccall($wrapper, Int32, ($(types...),), $(values...))))
    return status, copies
end

function wrapper_fault(wrapper, case, T, n)
    arguments = case.inputs(T, n)
    _, expected = Examples.run_on_copies(Tessella.original(case.f), arguments)
    status, actual = run_wrapper(wrapper, arguments)
    status == 0 || return "the wrapper returned $status"
    return case.agree((nothing, actual), (nothing, expected)) ? nothing : "differs"
end

function check_wrappers(cases)
    if Sys.which("nvcc") === nothing
        println("\nprinted .cu files: skipped, no nvcc on the PATH")
        return 0, 0
    end
    println("\nthe printed .cu files, compiled by nvcc, sizes 1, 17 and $LARGE_TEST")
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
        end
    end
    return passed, failed
end

# Seconds of the fastest of a few runs on the same arguments.
function best(f, arguments; runs = 5)
    f(arguments...)
    return minimum(@elapsed(f(arguments...)) for _ in 1:runs)
end

function bench(cases)
    println("\ntime of a whole call: copies to and from the GPU included")
    println(rpad("function", 26), rpad("type", 9), lpad("extents", 24), lpad("plain Julia", 14), lpad("GPU", 14),
            lpad("ratio", 9))
    for case in cases, T in case.types
        arguments = case.large_inputs(T)
        plain = best(Tessella.original(case.f), map(copy_array, arguments); runs = 2)
        fast = best(case.f, map(copy_array, arguments))
        @printf("%-26s%-9s%24s%11.3f ms%11.3f ms%9.1f\n", case.name, T, case.large, 1e3 * plain, 1e3 * fast,
                plain / fast)
    end
end

copy_array(argument) = argument isa AbstractArray ? copy(argument) : argument

function main(arguments)
    ENV["TESSELLA_FALLBACK"] = "0"
    names = filter(argument -> !startswith(argument, "--"), arguments)
    cases = filter(case -> isempty(names) || case.name in names, CASES)
    println("device: ", device_name())
    println("Julia ", VERSION, "\n")
    passed, failed = check(cases) .+ check_wrappers(cases)
    "--bench" in arguments && failed == 0 && bench(cases)
    println("\n$passed passed, $failed failed")
    return failed == 0 && passed > 0
end

main(ARGS) || exit(1)
