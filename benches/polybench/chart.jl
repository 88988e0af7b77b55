# The chart: how many times as fast as plain Julia each contender is, a line a kernel, on a logarithmic axis.

struct Mark
    contender::String
    threads::Int
    label::String
    colour::String
    shape::Symbol
end

const ROW_HEIGHT = 18
const NAME_WIDTH = 110
const PLOT_WIDTH = 400
const TOP = 74

function marks(results)
    most = maximum(measured_threads(results))
    list = [
        Mark("gcc", 1, "gcc", "#8a8f98", :circle)
        Mark("clang", 1, "clang", "#8a8f98", :square)
        Mark("polly", 1, "Polly", "#d9822b", :triangle)
        Mark("tessella", 1, "Tessella, 1 thread", "#7fb2e5", :disc)
    ]
    if most > 1
        insert!(list, 4, Mark("polly-parallel", most, "Polly, $(threads_text(most))", "#d9822b", :filled_triangle))
        push!(list, Mark("tessella", most, "Tessella, $(threads_text(most))", "#1f5fa8", :disc))
    end
    return filter(mark -> any(key -> key[3] == mark.contender && key[4] == mark.threads, keys(results.rows)), list)
end

function shape(mark::Mark, x, y)
    x, y = round(x; digits = 1), round(y; digits = 1)
    outline = "fill=\"white\" stroke=\"$(mark.colour)\" stroke-width=\"1.4\""
    mark.shape === :disc && return "<circle cx=\"$x\" cy=\"$y\" r=\"4.2\" fill=\"$(mark.colour)\"/>"
    mark.shape === :circle && return "<circle cx=\"$x\" cy=\"$y\" r=\"3.2\" $outline/>"
    mark.shape === :square && return "<rect x=\"$(x - 3)\" y=\"$(y - 3)\" width=\"6\" height=\"6\" $outline/>"
    filled = mark.shape === :filled_triangle ? "fill=\"$(mark.colour)\"" : outline
    return "<path d=\"M$x $(y - 4.2) l4 7.2 h-8 z\" $filled/>"
end

label(x, y, text; anchor = "start", extra = "") = "<text x=\"$x\" y=\"$y\" text-anchor=\"$anchor\"$extra>$text</text>"

"The whole picture: a panel for each width of elements that was measured."
function chart(results)
    widths = filter(width -> !isempty(measured_kernels(results, width)), [8, 4])
    list = marks(results)
    kernels = filter(kernel -> any(width -> kernel in measured_kernels(results, width), widths), PolyBench.ALL)
    ratios = [seconds(results, kernel, width, "plain", 1) / seconds(results, kernel, width, mark.contender, mark.threads)
              for kernel in kernels for width in widths for mark in list
              if seconds(results, kernel, width, "plain", 1) !== nothing &&
                 seconds(results, kernel, width, mark.contender, mark.threads) !== nothing]
    low, high = floor(Int, log2(min(0.9, minimum(ratios)))), ceil(Int, log2(max(2, maximum(ratios))))
    position(ratio) = (log2(ratio) - low) / (high - low) * PLOT_WIDTH
    height = TOP + ROW_HEIGHT * length(kernels) + 34
    total = NAME_WIDTH + length(widths) * (PLOT_WIDTH + 30)

    lines = ["<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 $total $height\" width=\"$total\" " *
             "height=\"$height\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">",
             "<rect width=\"$total\" height=\"$height\" fill=\"white\"/>"]
    x = NAME_WIDTH
    for mark in list
        push!(lines, shape(mark, x, 18), label(x + 9, 22, mark.label))
        x += 30 + 7 * length(mark.label)
    end
    for (at, kernel) in enumerate(kernels)
        push!(lines, label(NAME_WIDTH - 10, TOP + ROW_HEIGHT * (at - 0.5) + 4, kernel.name; anchor = "end"))
    end
    for (panel, width) in enumerate(widths)
        left = NAME_WIDTH + (panel - 1) * (PLOT_WIDTH + 30)
        append!(lines, panel_lines(results, width, kernels, list, left, low, high, position))
    end
    return join(push!(lines, "</svg>"), '\n') * "\n"
end

function panel_lines(results, width, kernels, list, left, low, high, position)
    bottom = TOP + ROW_HEIGHT * length(kernels)
    lines = [label(left, TOP - 26, title(results, width); extra = " font-weight=\"bold\"")]
    # Negative and positive powers alike, at most a dozen of them.
    for power in filter(power -> mod(power, cld(high - low, 12)) == 0, low:high)
        x = round(left + position(2.0^power); digits = 1)
        colour = power == 0 ? "#444" : "#ddd"
        push!(lines, "<path d=\"M$x $(TOP - 4) V$bottom\" stroke=\"$colour\"/>",
              label(x, TOP - 9, power < 0 ? "1/$(2^-power)" : 2^power; anchor = "middle", extra = " font-size=\"10\""))
    end
    push!(lines, label(left + PLOT_WIDTH / 2, bottom + 20, "times as fast as plain Julia"; anchor = "middle"))
    for (at, kernel) in enumerate(kernels)
        y = TOP + ROW_HEIGHT * (at - 0.5)
        plain = seconds(results, kernel, width, "plain", 1)
        plain === nothing && continue
        ours = seconds(results, kernel, width, "tessella", maximum(measured_threads(results)))
        if ours !== nothing
            from, to = round.(left .+ position.((1.0, plain / ours)); digits = 1)
            push!(lines, "<path d=\"M$from $y H$to\" stroke=\"#1f5fa8\" stroke-width=\"2\" opacity=\"0.35\"/>")
        end
        for mark in list
            taken = seconds(results, kernel, width, mark.contender, mark.threads)
            taken === nothing || push!(lines, shape(mark, left + position(plain / taken), y))
        end
    end
    return lines
end
