# The tables: a row a kernel, a column a contender, for the terminal and for docs/performance.md.

# The contenders other than Tessella, and what tables call them.
const OTHERS = ["plain" => "Julia", "gcc" => "gcc", "clang" => "clang", "polly" => "Polly", "polly-parallel" => "Polly"]

milliseconds(seconds) = three_digits(1e3 * seconds)
three_digits(x) = x < 1 ? @sprintf("%.3f", x) : x < 10 ? @sprintf("%.2f", x) : x < 100 ? @sprintf("%.1f", x) : @sprintf("%.0f", x)
geometric_mean(values) = exp(sum(log, values) / length(values))

struct Column
    heading::String
    "the text of a kernel's cell"
    cell::Function
    "a kernel's value for the geometric mean, or `nothing`"
    value::Function
end

function columns(results, width)
    took(kernel, name, threads) = seconds(results, kernel, width, name, threads)
    ratio(over, under) = over === nothing || under === nothing ? nothing : over / under
    text(value, format) = value === nothing ? "-" : format(value)
    speedup(name, threads) = kernel -> ratio(took(kernel, "plain", 1), took(kernel, name, threads))
    function time_column(name, threads, heading)
        cell(kernel) = haskey(results.rows, (kernel.name, width, name, threads)) &&
            took(kernel, name, threads) === nothing ? "wrong" : text(took(kernel, name, threads), milliseconds)
        return Column(heading, cell, name == "plain" ? kernel -> nothing : speedup(name, threads))
    end
    measured(name, threads) = any(key -> key[2] == width && key[3] == name && key[4] == threads, keys(results.rows))

    list = Column[]
    for (name, title) in OTHERS
        name != "polly-parallel" && measured(name, 1) &&
            push!(list, time_column(name, 1, name == "plain" ? "plain Julia" : title))
    end
    for threads in measured_threads(results)
        suffix = threads == 1 ? "" : ", $(threads_text(threads))"
        threads > 1 && measured("polly-parallel", threads) &&
            push!(list, time_column("polly-parallel", threads, "Polly" * suffix))
        function over_best(kernel)
            best = best_other(results, kernel, width, threads)
            return best === nothing ? nothing : ratio(best[2], took(kernel, "tessella", threads))
        end
        name_best(kernel) = text(over_best(kernel), three_digits) *
            (over_best(kernel) === nothing ? "" : " ($(best_other(results, kernel, width, threads)[1]))")
        push!(list, time_column("tessella", threads, "Tessella" * suffix))
        push!(list, Column("× Julia", kernel -> text(speedup("tessella", threads)(kernel), three_digits),
                           speedup("tessella", threads)))
        push!(list, Column("× best other", name_best, over_best))
    end
    return list
end

# Headings, then a row a kernel, then the geometric means: in a column of times that of plain Julia's time over it.
function cells(results, width)
    kernels = measured_kernels(results, width)
    list = columns(results, width)
    rows = [["kernel"; [column.heading for column in list]]]
    for kernel in kernels
        push!(rows, [kernel.name; [column.cell(kernel) for column in list]])
    end
    means = map(list) do column
        values = Float64[x for x in map(column.value, kernels) if x !== nothing]
        return isempty(values) ? "" : "× " * three_digits(geometric_mean(values))
    end
    return push!(rows, ["geometric mean"; means])
end

"What the table comes to, in sentences."
function conclusions(results, width)
    kernels = measured_kernels(results, width)
    lines = String[]
    for threads in measured_threads(results)
        took(kernel) = seconds(results, kernel, width, "tessella", threads)
        compared = filter(kernel -> took(kernel) !== nothing &&
                                    seconds(results, kernel, width, "plain", 1) !== nothing, kernels)
        isempty(compared) && continue
        wins = count(kernel -> took(kernel) <= best_other(results, kernel, width, threads)[2], compared)
        mean = geometric_mean([seconds(results, kernel, width, "plain", 1) / took(kernel) for kernel in compared])
        push!(lines, "$(uppercasefirst(threads_text(threads))): at least as fast as the best of the others on $wins " *
                     "of $(length(compared)); geometric mean over plain Julia $(three_digits(mean)).")
        for (name, products) in PRODUCTS
            at = findfirst(kernel -> kernel.name == name, compared)
            peak = get(results.facts, peak_fact(width, threads, false), nothing)
            (at === nothing || peak === nothing) && continue
            rate = 2 * products(dims(compared[at], parse(Float64, results.facts["share"]))...) / took(compared[at])
            share(fused) = round(Int, 100 * rate / parse(Float64, results.facts[peak_fact(width, threads, fused)]))
            push!(lines, "$name on $(threads_text(threads)): $(three_digits(rate / 1e9)) Gflop/s, $(share(false)) % of " *
                         "the measured peak without fused operations, $(share(true)) % of that with them.")
        end
    end
    return lines
end

# The multiplications of elements that the matrix products come down to, one addition with each.
const PRODUCTS = [
    "gemm" => (ni, nj, nk) -> ni * nj * nk,
    "2mm" => (ni, nj, nk, nl) -> ni * nj * nk + ni * nl * nj,
    "3mm" => (ni, nj, nk, nl, nm) -> ni * nj * nk + nj * nl * nm + ni * nl * nj,
]

function title(results, width)
    integers = filter(kernel -> element_type(kernel, width) <: Integer, measured_kernels(results, width))
    names = join([kernel.name for kernel in integers], " and ")
    return PEAK_NAMES[width ÷ 4] * (isempty(integers) ? "" : " ($names: Int$(8width))")
end

function print_table(results, width)
    isempty(measured_kernels(results, width)) && return
    rows = cells(results, width)
    widths = [maximum(length(row[at]) for row in rows) for at in 1:length(rows[1])]
    println("\n", title(results, width), ", times in ms")
    for row in rows
        println(rpad(row[1], widths[1]), join("  " * lpad(row[at], widths[at]) for at in 2:length(row)))
    end
    foreach(println, conclusions(results, width))
end

# --- docs/performance.md ----------------------------------------------------------------------------------------------

const BEGIN_MARK = "<!-- polybench:begin -->"
const END_MARK = "<!-- polybench:end -->"

function markdown(results, chart_file)
    io = IOBuffer()
    share = parse(Float64, results.facts["share"])
    println(io, "`./x bench polybench", share == 1 ? "" : " --share=$share", " --write` made this part, from PolyBench's ",
            "LARGE sizes", share == 1 ? "" : " times $share", ". Every result was compared with plain\nJulia's first. ",
            "Times are in milliseconds, the fastest of several runs each; \"× Julia\" is plain Julia's time over\n",
            "Tessella's, \"× best other\" that of the fastest of all others on no more threads. The geometric mean under ",
            "a column of\ntimes is that of plain Julia's time over it.\n")
    foreach(line -> println(io, "- ", line), fact_lines(results.facts))
    println(io, "\n![How many times as fast as plain Julia, kernel by kernel]($chart_file)")
    for width in (8, 4)
        isempty(measured_kernels(results, width)) && continue
        println(io, "\n### ", title(results, width), "\n")
        foreach(line -> println(io, "- ", line), conclusions(results, width))
        rows = cells(results, width)
        println(io)
        println(io, "| ", join(rows[1], " | "), " |\n|", " --- |", " ---: |"^(length(rows[1]) - 1))
        foreach(row -> println(io, "| ", join(row, " | "), " |"), rows[2:end])
    end
    return String(take!(io))
end

"Puts tables between the two marks of a document; the rest of it stays."
function write_markdown(results, document, chart_file)
    text = read(document, String)
    from, to = findfirst(BEGIN_MARK, text), findfirst(END_MARK, text)
    (from === nothing || to === nothing) && refuse("$document lacks the marks $BEGIN_MARK and $END_MARK")
    write(document, text[1:last(from)], "\n", markdown(results, chart_file), text[first(to):end])
end
