# The PolyBench kernels: compiled with 1 and with 2 threads, against plain Julia.
#
#     julia --project=julia-pkg benches/polybench.jl [--share=0.5] [NAME ...]
#
# Extents are PolyBench's LARGE ones times the share (default 0.4); names choose kernels. Results are checked first, and
# the script exits with 1 if one differs. OpenMP reads OMP_NUM_THREADS once: each number of threads runs in a process of
# its own.

using Tessella
using Printf

include(joinpath(@__DIR__, "..", "tests", "polybench", "registry.jl"))

const THREADS = (1, 2)
const THIS_FILE = @__FILE__

copy_array(argument) = argument isa AbstractArray ? copy(argument) : argument

# Seconds of the fastest of a few runs, each on fresh arguments; no new run after two seconds.
function best(f, arguments; runs = 3)
    fastest = Inf
    start = time()
    for _ in 1:runs
        copies = map(copy_array, arguments)
        fastest = min(fastest, @elapsed f(copies...))
        time() - start > 2 && break
    end
    return fastest
end

dims(kernel, share) = map(extent -> max(2, round(Int, share * extent)), kernel.large)

# Prints one line a kernel: its time, and with the first number of threads that of plain Julia and whether both agree.
function measure(names, share, with_plain)
    ENV["TESSELLA_FALLBACK"] = "0"
    for kernel in PolyBench.ALL
        isempty(names) || kernel.name in names || continue
        arguments = kernel.inputs(last(kernel.types), dims(kernel, share)...)
        plain, same = 0.0, true
        # Julia and Tessella compile first.
        small = PolyBench.inputs(kernel, last(kernel.types), 7)
        foreach(f -> PolyBench.run_on_copies(f, small), (kernel.f, Tessella.original(kernel.f)))
        if with_plain
            expected = PolyBench.run_on_copies(Tessella.original(kernel.f), arguments)
            same = PolyBench.agree(kernel, PolyBench.run_on_copies(kernel.f, arguments), expected)
            plain = best(Tessella.original(kernel.f), arguments)
        end
        println(join((kernel.name, best(kernel.f, arguments), plain, same), '\t'))
        flush(stdout)
    end
end

function child(threads, names, share)
    flags = ["--measure", "--share=$share"]
    threads == first(THREADS) && push!(flags, "--plain")
    project = dirname(Base.active_project())
    command = `$(Base.julia_cmd()) --project=$project $THIS_FILE $flags $names`
    output = read(setenv(command, merge(ENV, Dict("OMP_NUM_THREADS" => string(threads)))), String)
    return [split(line, '\t') for line in split(output, '\n'; keepempty = false)]
end

function table(names, share)
    results = [child(threads, names, share) for threads in THREADS]
    print(rpad("kernel", 16), rpad("extents", 24), lpad("plain Julia", 14))
    println(join(lpad("$threads thread$(threads == 1 ? "" : "s")", 14) * lpad("ratio", 8) for threads in THREADS))
    all_same = true
    for rows in zip(results...)
        name, _, plain, same = first(rows)
        kernel = PolyBench.ALL[findfirst(kernel -> kernel.name == name, PolyBench.ALL)]
        plain = parse(Float64, plain)
        print(rpad(name, 16), rpad(join(dims(kernel, share), 'x'), 24), @sprintf("%11.2f ms", 1e3 * plain))
        for row in rows
            seconds = parse(Float64, row[2])
            @printf("%11.2f ms%8.2f", 1e3 * seconds, plain / seconds)
        end
        println(same == "true" ? "" : "   DIFFERS")
        all_same &= same == "true"
    end
    return all_same
end

function main(arguments)
    names = filter(argument -> !startswith(argument, "--"), arguments)
    shares = [split(argument, '=')[2] for argument in arguments if startswith(argument, "--share=")]
    share = isempty(shares) ? 0.4 : parse(Float64, last(shares))
    "--measure" in arguments && return measure(names, share, "--plain" in arguments)
    table(names, share) || exit(1)
end

main(ARGS)
