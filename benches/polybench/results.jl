# Measurements, and the file that keeps them: lines of facts, then lines of measurements, with tabs between.

struct Measurement
    seconds::Float64
    "`same`, `differs`, or `failed: ` and why"
    verdict::String
end

struct Results
    "what was measured on, and with"
    facts::Dict{String,String}
    "by kernel, bytes of an element, contender, and threads"
    rows::Dict{Tuple{String,Int,String,Int},Measurement}
end

function save(results, file)
    mkpath(dirname(file))
    open(file * ".part", "w") do io
        for key in sort(collect(keys(results.facts)))
            println(io, join(("fact", key, results.facts[key]), '\t'))
        end
        for key in sort(collect(keys(results.rows)))
            measurement = results.rows[key]
            println(io, join(("time", key..., measurement.seconds, measurement.verdict), '\t'))
        end
    end
    mv(file * ".part", file; force = true)
end

# What the file holds; it must have been measured on the same sizes.
function load_results(file, share)
    facts = Dict("share" => string(share))
    rows = Dict{Tuple{String,Int,String,Int},Measurement}()
    isfile(file) || return Results(facts, rows)
    kept = Dict{String,String}()
    for line in eachline(file)
        fields = split(line, '\t')
        if fields[1] == "fact"
            kept[fields[2]] = fields[3]
        else
            kernel, width, contender, threads, seconds, verdict = fields[2:end]
            rows[(kernel, parse(Int, width), contender, parse(Int, threads))] =
                Measurement(parse(Float64, seconds), verdict)
        end
    end
    kept["share"] == facts["share"] ||
        refuse("$file holds results for --share=$(kept["share"]): name another file with --results=, or remove it")
    return Results(kept, rows)
end

"The seconds of a contender whose result was right, or `nothing`."
function seconds(results, kernel, width, contender, threads)
    measurement = get(results.rows, (kernel.name, width, contender, threads), nothing)
    return measurement === nothing || measurement.verdict != "same" ? nothing : measurement.seconds
end

"The numbers of threads that Tessella was measured with."
measured_threads(results) = sort(unique(key[4] for key in keys(results.rows) if key[3] == "tessella"))
measured_kernels(results, width) =
    filter(kernel -> haskey(results.rows, (kernel.name, width, "plain", 1)), PolyBench.ALL)

"The best of all others on so many threads: its name and its seconds."
function best_other(results, kernel, width, threads)
    best = nothing
    for (name, title) in OTHERS, used in unique((1, threads))
        taken = seconds(results, kernel, width, name, used)
        (taken === nothing || best !== nothing && best[2] <= taken) || (best = (title, taken))
    end
    return best
end

"Lists what differed or failed; true if nothing did."
function report_faults(results)
    faults = [(key, measurement) for (key, measurement) in results.rows if measurement.verdict != "same"]
    for ((kernel, width, contender, threads), measurement) in sort(faults; by = first)
        println("$kernel, $width-byte elements, $contender, $(threads_text(threads)): $(measurement.verdict)")
    end
    return isempty(faults) && !isempty(results.rows)
end
