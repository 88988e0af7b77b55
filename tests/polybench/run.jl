# The PolyBench kernels, compiled and interpreted, against plain Julia, bit for bit.
#
#     julia --project=julia-pkg tests/polybench/run.jl [NAME ...]
#
# Names choose kernels. Exits with 1 if a result differs or a kernel is not compiled. The package's tests include this
# file and call `check` themselves.
module PolyBenchRun

using Tessella

include("registry.jl")

const TARGETS = (:c, :interpreter)

"What became of a kernel on one target for one element type: the numbers `n` and, where it failed, how."
function check(kernel, target::Symbol, T)
    Tessella.retarget!(kernel.f, target)
    try
        return [n => fault(kernel, T, n) for n in kernel.sizes]
    finally
        Tessella.retarget!(kernel.f, :c)
    end
end

# `nothing` if all agree with plain Julia. With TESSELLA_FALLBACK=0 a kernel that is not compiled is an error.
function fault(kernel, T, n)
    arguments = PolyBench.inputs(kernel, T, n)
    expected = PolyBench.run_on_copies(Tessella.original(kernel.f), arguments)
    actual = try
        PolyBench.run_on_copies(kernel.f, arguments)
    catch error
        return sprint(showerror, error)
    end
    return PolyBench.agree(kernel, actual, expected) ? nothing : "differs from plain Julia"
end

"The loops that run in parallel, as the schedule's text names them."
function parallel_loops(kernel, T)
    types = map(typeof, PolyBench.inputs(kernel, T, 2))
    schedule = string(Tessella.code_schedule(kernel.f, types))
    return unique(String(found.captures[1]) for found in eachmatch(r"for (\S+) .*# parallel", schedule))
end

function main(names)
    ENV["TESSELLA_FALLBACK"] = "0"
    kernels = filter(kernel -> isempty(names) || kernel.name in names, PolyBench.ALL)
    failed = 0
    for kernel in kernels, T in kernel.types
        print(rpad(kernel.name, 16), rpad(T, 9))
        for target in TARGETS
            faults = filter(outcome -> last(outcome) !== nothing, check(kernel, target, T))
            failed += length(faults)
            print(rpad("$target: " * (isempty(faults) ? "ok" : "FAILED"), 20))
            foreach(((n, reason),) -> print("\n    n = $n: $reason\n"), faults)
        end
        loops = parallel_loops(kernel, T)
        println(isempty(loops) ? "nothing in parallel" : "parallel: " * join(loops, ", "))
    end
    return failed == 0 && !isempty(kernels)
end

end

abspath(PROGRAM_FILE) == @__FILE__() && (PolyBenchRun.main(ARGS) || exit(1))
