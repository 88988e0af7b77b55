# What the machine is, and what it can do at best.

function processor_line(key)
    isfile("/proc/cpuinfo") || return ""
    lines = filter(startswith(key), readlines("/proc/cpuinfo"))
    return isempty(lines) ? "" : strip(last(split(first(lines), ':'; limit = 2)))
end

processor() = "$(processor_line("model name")), $(Sys.CPU_THREADS) cores"
processor_features() = split(processor_line("flags"))

const PEAK_NAMES = ["Float32", "Float64"]

# The fact that holds a peak: operations a second, by the elements' type and the number of threads.
peak_fact(width, threads, fused) = "peak $(PEAK_NAMES[width ÷ 4]) $(fused ? "fused" : "unfused") $threads"
copy_fact(threads) = "copy $threads"

# Measures peaks with gcc, at the width of vectors that is fastest here.
function describe_machine!(facts, options, folder)
    facts["processor"] = processor()
    facts["julia"] = "Julia $VERSION, --check-bounds=no -O3"
    compiler = find_compiler("GCC", ["gcc", "cc"])
    isempty(compiler) && return
    source = joinpath(@__DIR__, "c", "machine.c")
    function measured(what, width, vector, contraction, threads)
        program = joinpath(folder, "machine-$width-$vector-$contraction")
        isfile(program) || run(`$compiler -O3 -march=native -fopenmp -ffp-contract=$contraction
                                -DREAL=$(width == 4 ? "float" : "double") -DWIDTH=$vector $source -o $program`)
        return parse(Float64, readchomp(`$program $what $threads`))
    end
    features = processor_features()
    vectors = [16; "avx" in features ? 32 : []; "avx512f" in features ? 64 : []]
    for threads in union([1], options.threads)
        for width in options.widths, (fused, contraction) in (false => "off", true => "fast")
            rates = [measured("peak", width, vector, contraction, threads) for vector in vectors[max(1, end - 1):end]]
            facts[peak_fact(width, threads, fused)] = string(maximum(rates))
        end
        facts[copy_fact(threads)] = string(measured("copy", 8, 16, "off", threads))
    end
end

"Sentences on the machine and the compilers."
function fact_lines(facts)
    lines = ["Machine: $(facts["processor"]).", "Plain Julia: $(facts["julia"])."]
    for (name, title) in ("gcc" => "gcc", "clang" => "clang", "polly" => "Polly", "polly-parallel" => "Polly, threads")
        haskey(facts, name) && push!(lines, "$title: $(facts[name]).")
    end
    push!(lines, "All C: $(join(C_FLAGS, ' ')).")
    for threads in fact_threads(facts)
        rate(key) = @sprintf("%.1f", parse(Float64, facts[key]) / 1e9)
        peaks = ["$(rate(peak_fact(width, threads, false))) Gflop/s in $(PEAK_NAMES[width ÷ 4]) " *
                 "($(rate(peak_fact(width, threads, true))) fused)"
                 for width in (8, 4) if haskey(facts, peak_fact(width, threads, false))]
        push!(lines, "Measured peak, $(threads_text(threads)): $(join(peaks, ", ")), " *
                     "copying $(rate(copy_fact(threads))) GB/s (128 MiB read, 128 MiB written).")
    end
    return lines
end

# The numbers of threads that peaks are known for.
fact_threads(facts) = sort([parse(Int, last(split(key))) for key in keys(facts) if startswith(key, "copy ")])
threads_text(threads) = "$threads thread$(threads == 1 ? "" : "s")"

print_facts(facts) = foreach(println, fact_lines(facts))
