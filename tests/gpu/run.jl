# All examples on the GPU, against plain Julia, bit for bit.
#
#     julia --project=julia-pkg tests/gpu/run.jl [--bench] [NAME ...]
#
# Where nvcc is found, the printed .cu files are compiled as they are, too, and their host wrappers called. --bench adds
# a table of times; names choose examples. Exits with 1 if a result differs.

using Tessella
using Libdl
using Printf

include(joinpath(@__DIR__, "..", "..", "examples", "registry.jl"))

function device_name()
    try
        return join(readlines(`nvidia-smi --query-gpu=name --format=csv,noheader`), ", ")
    catch
        return "unknown (no nvidia-smi)"
    end
end

const LARGE_TEST = 257

# `nothing` if compiled code and plain Julia agree, else what went wrong.
function fault(example, T, n)
    try
        return Examples.agrees(example, example.inputs(T, n)) ? nothing : "differs"
    catch error
        return sprint(showerror, error)
    end
end

function check(examples)
    passed = failed = 0
    faults = Dict{String,Vector{String}}()
    sizes = (Examples.SIZES..., LARGE_TEST)
    println(rpad("example", 16), rpad("type", 9), join(lpad(n, 6) for n in sizes))
    for example in examples, T in example.types
        Tessella.retarget!(example.f, :cuda)
        print(rpad(example.name, 16), rpad(T, 9))
        for n in sizes
            reason = fault(example, T, n)
            if reason === nothing
                passed += 1
            else
                failed += 1
                push!(get!(() -> String[], faults, reason), "$(example.name) $T $n")
            end
            printstyled(lpad(reason === nothing ? "ok" : "FAIL", 6); color = reason === nothing ? :green : :red)
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
function nvcc_wrapper(example, types, folder)
    text = string(Tessella.code_cuda(example.f, types))
    name = match(r"extern \"C\" int32_t (\w+)\("s, text)
    name === nothing && error("the printed CUDA has no host wrapper")
    stem = joinpath(folder, "$(example.name)_$(join(types, '_') |> hash)")
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

function wrapper_fault(wrapper, example, T, n)
    arguments = example.inputs(T, n)
    _, expected = Examples.run_on_copies(Tessella.original(example.f), arguments)
    status, actual = run_wrapper(wrapper, arguments)
    status == 0 || return "the wrapper returned $status"
    return all(Examples.identical(x, y) for (x, y) in zip(actual, expected)) ? nothing : "differs"
end

function check_wrappers(examples)
    if Sys.which("nvcc") === nothing
        println("\nprinted .cu files: skipped, no nvcc on the PATH")
        return 0, 0
    end
    println("\nthe printed .cu files, compiled by nvcc, sizes 1, 17 and $LARGE_TEST")
    passed = failed = 0
    mktempdir() do folder
        for example in examples, T in example.types
            reason = try
                wrapper = nvcc_wrapper(example, map(typeof, example.inputs(T, 17)), folder)
                reasons = [wrapper_fault(wrapper, example, T, n) for n in (1, 17, LARGE_TEST)]
                join(unique(filter(reason -> reason !== nothing, reasons)), "; ")
            catch error
                sprint(showerror, error)
            end
            isempty(reason) ? (passed += 1) : (failed += 1)
            println(rpad(example.name, 16), rpad(T, 9), isempty(reason) ? "ok" : reason)
        end
    end
    return passed, failed
end

# Seconds of the fastest of a few runs on the same arguments.
function best(f, arguments; runs = 5)
    f(arguments...)
    return minimum(@elapsed(f(arguments...)) for _ in 1:runs)
end

function bench(examples)
    println("\nseconds of a whole call: copies to and from the GPU included")
    println(rpad("example", 16), rpad("type", 9), lpad("size", 6), lpad("plain Julia", 14), lpad("GPU", 14),
            lpad("ratio", 9))
    for example in examples, T in example.types
        arguments = example.inputs(T, example.large)
        plain = best(Tessella.original(example.f), map(copy_array, arguments); runs = 2)
        fast = best(example.f, map(copy_array, arguments))
        @printf("%-16s%-9s%6d%11.3f ms%11.3f ms%9.1f\n", example.name, T, example.large, 1e3 * plain, 1e3 * fast,
                plain / fast)
    end
end

copy_array(argument) = argument isa AbstractArray ? copy(argument) : argument

function main(arguments)
    ENV["TESSELLA_FALLBACK"] = "0"
    names = filter(argument -> !startswith(argument, "--"), arguments)
    examples = filter(example -> isempty(names) || example.name in names, Examples.ALL)
    println("device: ", device_name())
    println("Julia ", VERSION, "\n")
    passed, failed = check(examples) .+ check_wrappers(examples)
    "--bench" in arguments && failed == 0 && bench(examples)
    println("\n$passed passed, $failed failed")
    return failed == 0 && passed > 0
end

main(ARGS) || exit(1)
