# A tour: one function from Julia to fast code, and a picture.
#
#     julia --project=julia-pkg examples/demo.jl [PICTURE]
#
# PICTURE is where the picture goes: without it heat2d.png, in the checkout's target/ or else in the current folder.

using Tessella
using Printf

include("registry.jl")
include("png.jl")

const heat2d! = Examples.heat2d!

heading(words) = printstyled("\n── ", words, " ", "─"^max(3, 92 - textwidth(words)), "\n\n"; bold = true, color = :cyan)

# The function's own lines in the example's file.
function definition_lines()
    lines = readlines(joinpath(@__DIR__, "heat2d.jl"))
    first = findfirst(line -> startswith(line, "@tessella"), lines)
    last = findnext(==("end"), lines, first)
    return lines[first:last]
end

# The part of the generated code around its first loops.
function stretch(code::String; before = 4, length = 34)
    lines = split(chomp(code), '\n')
    loop = something(findfirst(line -> occursin("for (", line), lines), 1)
    start = max(1, loop - before)
    stop = min(lastindex(lines), start + length - 1)
    start > 1 && println("    ...")
    foreach(line -> println("    ", line), lines[start:stop])
    stop < lastindex(lines) && println("    ...   (", lastindex(lines), " lines in all)")
end

indented(text) = foreach(line -> println("    ", line), split(rstrip(string(text)), '\n'))

# A plate with hot and cold places. Nothing is zero, so that nothing becomes subnormal.
function plate(T, m, n)
    A = ones(T, m, n)
    for j in 1:n, i in 1:m
        x, y = (j - n / 2) / (n / 2), (i - m / 2) / (m / 2)
        ring = hypot(x, y)
        0.55 < ring < 0.68 && mod(atan(y, x), pi / 4) < 0.6 && (A[i, j] = 9)
        hypot(x - 0.12, y + 0.1) < 0.24 && (A[i, j] = 10)
        hypot(x + 0.2, y - 0.22) < 0.14 && (A[i, j] = 0.25)
    end
    A[:, 1] .= 4
    A[:, n] .= 4
    return A
end

# Seconds of the fastest of a few runs, each from the same start; and what it computed.
function best(f, start, steps; runs = 4)
    seconds = Inf
    result = start
    for _ in 1:runs
        A, B = copy(start), copy(start)
        seconds = min(seconds, @elapsed f(A, B, steps))
        result = A
    end
    return seconds, result
end

function compare(T; n = 1000, steps = 100)
    start = plate(T, n, n)
    first_call = @elapsed heat2d!(copy(start), copy(start), 1)
    plain, expected = best(Tessella.original(heat2d!), start, steps)
    fast, actual = best(heat2d!, start, steps)
    same = Examples.identical(actual, expected)
    @printf("    %-8s %d x %d, %d steps:  plain Julia %7.1f ms   compiled %7.1f ms   %5.1f times as fast   ",
            T, n, n, steps, 1e3 * plain, 1e3 * fast, plain / fast)
    printstyled(same ? "identical\n" : "DIFFERENT\n"; color = same ? :green : :red, bold = true)
    return same, first_call
end

function tour(picture)
    A = plate(Float32, 64, 64)
    heading("The function, as a scientist writes it (examples/heat2d.jl)")
    indented(join(definition_lines(), '\n'))
    heading("What must stay in order: its dependences, found exactly")
    indented(Tessella.dependences(heat2d!, A, copy(A), 100))
    heading("The schedule: proved to respect them")
    indented(@code_schedule heat2d!(A, copy(A), 100))
    heading("A stretch of the C that comes out")
    stretch(string(@code_c heat2d!(A, copy(A), 100)))

    heading("Plain Julia against the compiled function, on $(Sys.CPU_THREADS) CPU threads")
    outcomes = [compare(T) for T in (Float32, Float64)]
    @printf("    compiling took %.2f s at the first call of each; code is kept for the next time\n",
            maximum(last, outcomes))

    field, steps = plate(Float32, 480, 640), 600
    heat2d!(field, copy(field), steps)
    write_png(picture, field)
    heading("A picture")
    println("    the plate after $steps steps: ", abspath(picture))
    return all(first, outcomes)
end

function default_picture()
    folder = normpath(joinpath(@__DIR__, "..", "target"))
    return isdir(folder) ? joinpath(folder, "heat2d.png") : "heat2d.png"
end

tour(isempty(ARGS) ? default_picture() : ARGS[1]) || exit(1)
