# Draws docs/performance-gpu.svg from a table of docs/performance.md: how near each program on a GPU comes to a copy's rate or the peak of
# arithmetic.
#
#     ./x bench gpu_chart
module GpuChart

const DOCS = normpath(joinpath(@__DIR__, "..", "docs"))
const DOCUMENT, CHART = joinpath(DOCS, "performance.md"), joinpath(DOCS, "performance-gpu.svg")

const ROW_HEIGHT, NAME_WIDTH, PLOT_WIDTH, TOP = 15, 250, 520, 58
const OF_COPY, OF_PEAK, NEITHER = "#7fb2e5", "#d9822b", "#c9ccd1"

struct Bar
    label::String
    share::Float64
    colour::String
end

"The cells of the rows of the first table below a heading, without its head."
function rows(text, heading)
    below = split(text, "\n## $heading\n")[2]
    table = Iterators.takewhile(startswith("|"), Iterators.dropwhile(!startswith("|"), split(below, '\n')))
    return [strip.(split(line, '|'; keepempty = false)) for line in Iterators.drop(table, 2)]
end

percent(cell) = (found = match(r"^(\d+) %$", cell)) === nothing ? 0.0 : parse(Float64, found[1])

"What a program is nearer to, of the copy's rate and the peak; programs that reach a tenth of neither wait for something else."
function bar(row)
    copy, peak = percent(row[6]), percent(row[8])
    colour = max(copy, peak) < 10 ? NEITHER : copy >= peak ? OF_COPY : OF_PEAK
    return Bar("$(row[1]), $(row[2]), $(row[3])", max(copy, peak), colour)
end

label(x, y, text; anchor = "start") = "<text x=\"$x\" y=\"$y\" text-anchor=\"$anchor\">$text</text>"
rect(x, y, width, height, colour) = "<rect x=\"$x\" y=\"$y\" width=\"$width\" height=\"$height\" fill=\"$colour\"/>"

function chart(bars)
    height, width = TOP + ROW_HEIGHT * length(bars) + 12, NAME_WIDTH + PLOT_WIDTH + 60
    lines = ["<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 $width $height\" width=\"$width\" height=\"$height\" " *
             "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\" fill=\"#222\">",
             rect(0, 0, width, height, "white")]
    x = 10
    for (colour, text) in (OF_COPY => "% of what a copy reaches", OF_PEAK => "% of the peak of arithmetic", NEITHER => "less than 10 % of both")
        append!(lines, [rect(x, 10, 12, 12, colour), label(x + 17, 20, text)])
        x += 200
    end
    for share in 0:25:100
        at = NAME_WIDTH + share / 100 * PLOT_WIDTH
        push!(lines, "<line x1=\"$at\" y1=\"$(TOP - 8)\" x2=\"$at\" y2=\"$(height - 10)\" stroke=\"#ddd\"/>",
              label(at, TOP - 12, "$share"; anchor = "middle"))
    end
    for (at, bar) in enumerate(bars)
        y = TOP + ROW_HEIGHT * (at - 1)
        length = round(bar.share / 100 * PLOT_WIDTH; digits = 1)
        push!(lines, label(NAME_WIDTH - 8, y + 9, bar.label; anchor = "end"), rect(NAME_WIDTH, y, max(length, 1), ROW_HEIGHT - 4, bar.colour))
    end
    return join(push!(lines, "</svg>"), '\n') * "\n"
end

function main()
    all = rows(read(DOCUMENT, String), "The GPU: programs beside what it copies and computes")
    # Time loops in one pass and wavefronts take too long to count.
    bars = [bar(row) for row in all if row[6] != "-" || row[8] != "-"]
    write(CHART, chart(bars))
    println("wrote $(relpath(CHART)), $(length(bars)) bars")
end

end

GpuChart.main()
