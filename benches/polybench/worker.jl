# A process of the PolyBench bench that measures one sort of contender: `plain` (Julia), `tessella`, or `c`.
#
# It reads questions from its input, one a line: kernel, bytes of an element, share of the extents, seconds, the file of
# plain Julia's results, and the library of the C kernel. It answers with seconds and a verdict. Plain Julia writes the
# file of results; the others compare theirs with it.

using Libdl
using Serialization
using Tessella

include("kernels.jl")

const MOST_RUNS = 200

copy_array(argument) = argument isa AbstractArray ? copy(argument) : argument
restore!(copy::AbstractArray, original) = copyto!(copy, original)
restore!(copy, original) = nothing

# The fastest of several runs, each on fresh values in the same arrays. There are at least two, unless the first took ten
# times what is allowed; the results of the first are checked.
function measure(f, arguments, seconds, verdict_on)
    copies = map(copy_array, arguments)
    fastest, spent, runs, verdict = Inf, 0.0, 0, ""
    while runs == 0 || (runs == 1 && spent < 10seconds) || (spent < seconds && runs < MOST_RUNS)
        foreach(restore!, copies, arguments)
        start = time_ns()
        result = f(copies...)
        elapsed = (time_ns() - start) / 1e9
        runs == 0 && (verdict = verdict_on(result, copies))
        fastest = min(fastest, elapsed)
        spent += elapsed
        runs += 1
    end
    return fastest, verdict
end

# The C kernel as a Julia function. Numbers of time steps are constants in C.
function c_function(library, kernel, arguments)
    entry = Libdl.dlsym_e(Libdl.dlopen(library), c_name(kernel))
    entry in (C_NULL, nothing) && error("the compiler could not compile it")
    names = [Symbol(:argument, at) for at in 1:length(arguments)]
    passed = [at for at in 1:length(arguments) if !(arguments[at] isa Int)]
    types = [arguments[at] isa Array ? Ptr{eltype(arguments[at])} : typeof(arguments[at]) for at in passed]
    f = eval(:(($(names...),) -> ccall($entry, Cvoid, ($(types...),), $(names[passed]...))))
    # Or else the first run would include Julia's compiling of this.
    precompile(f, Tuple(map(typeof, arguments)))
    return f
end

function answer(role, name, width, share, seconds, reference, library)
    kernel = PolyBench.ALL[findfirst(kernel -> kernel.name == name, PolyBench.ALL)]
    T = element_type(kernel, parse(Int, width))
    arguments = kernel.inputs(T, dims(kernel, parse(Float64, share))...)
    seconds = parse(Float64, seconds)
    role == "c" && return Base.invokelatest(measure, c_function(library, kernel, arguments), arguments, seconds,
                                            (_, copies) -> verdict(kernel, reference, nothing, copies))
    f = role == "plain" ? Tessella.original(kernel.f) : kernel.f
    # Julia and Tessella compile first.
    PolyBench.run_on_copies(f, PolyBench.inputs(kernel, T, 7))
    role == "plain" && return measure(f, arguments, seconds, (outcome...) -> (serialize(reference, outcome); "same"))
    return measure(f, arguments, seconds, (result, copies) -> verdict(kernel, reference, Some(result), copies))
end

# What C kernels return does not count: they return nothing.
function verdict(kernel, reference, result, copies)
    expected, expected_copies = deserialize(reference)
    outcome = (result === nothing ? expected : something(result), copies)
    return PolyBench.agree(kernel, outcome, (expected, expected_copies)) ? "same" : "differs"
end

function serve(role)
    for question in eachline(stdin)
        seconds, verdict = try
            answer(role, split(question, '\t')...)
        catch failure
            NaN, "failed: " * first(split(sprint(showerror, failure), '\n'))
        end
        println(seconds, '\t', verdict)
        flush(stdout)
        GC.gc()
    end
end

serve(only(ARGS))
