# What padding of arrays gives on this CPU: stencils over arrays whose columns are a power of two long, and over padded ones.
#
#     ./x build; julia --project=julia-pkg benches/padding.jl [--seconds=0.5] [--quick] [--gpu] [--tables=cpu,vectors,banks,sectors] [--output=FILE]
#
# One and two threads. Results over padded arrays are compared with those over plain ones first, bit for bit; the script exits
# with 1 if one differs. It takes about a minute; `--output` writes the tables to a file.
#
# The second table is about the shared memory of a GPU: for tiles that pass through it, how many pairs of threads of a warp the model
# counts in one bank, without padding and with the padding that Tessella's own choice has (`tessella explain --target cuda`). With
# `--gpu` each of these kernels also runs under `ncu`, where that is installed, and the conflicts that it counts stand beside: the
# same kernel once as it is chosen and once with its `pad` commands taken away. A third table, with `--gpu` only, times the kernels of
# programs whose arrays in the GPU's memory get columns of whole sectors, with and without.
module PaddingBench

using Printf
using Tessella

for threads in (1, 2)
    @eval @tessella threads=$threads fallback=false function $(Symbol("star", threads, "!"))(B, A)
        m, n = size(A)
        for j in 2:n-1, i in 2:m-1
            B[i, j] = A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]
        end
    end
    @eval @tessella threads=$threads fallback=false function $(Symbol("box", threads, "!"))(B, A)
        m, n = size(A)
        for j in 2:n-1, i in 2:m-1
            B[i, j] = A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] +
                      A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]
        end
    end
    @eval @tessella threads=$threads fallback=false function $(Symbol("turned", threads, "!"))(B, A)
        m, n = size(A)
        for j in 1:n, i in 1:m
            B[i, j] = A[j, i]
        end
    end
end

const PADS = (0, 1, 3, 4, 8, 16)

const ROOT = normpath(joinpath(@__DIR__, ".."))
const TOOL = get(ENV, "TESSELLA_TOOL", joinpath(ROOT, "target", "release", "tessella"))
# Programs whose tiles pass through shared memory, and the sizes that they run at under `ncu`.
const TILED = ["examples/bicg.jl" => "2048", "examples/covariance.jl" => "512", "examples/doitgen.jl" => "96",
               "tests/polybench/atax.jl" => "2048", "tests/polybench/mvt.jl" => "2048", "tests/polybench/gemver.jl" => "2048"]
const METRIC = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"

output_of(words) = (io = IOBuffer(); success(pipeline(ignorestatus(words); stdout = io, stderr = devnull)) ? String(take!(io)) : "")

# What `ncu` counts for a file under a schedule; `nothing` where there is none, or no GPU.
function counted(file, side, schedule)
    Sys.which("ncu") === nothing && return nothing
    names = match(r"it has ([^\n]*)", (io = IOBuffer();
        run(pipeline(ignorestatus(`$TOOL run $file --target cuda --size nothing_of_this_name=1`); stdout = devnull, stderr = io));
        String(take!(io))))
    sizes = names === nothing ? String[] : ["$name=$side" for name in split(strip(names[1]), r", *") if !occursin(r"_\d+$", name)]
    size = isempty(sizes) ? `` : `--size $sizes`
    text = output_of(`ncu --clock-control none --csv --metrics $METRIC $TOOL run $file --target cuda --repeat 1 --no-compare $size --schedule $schedule`)
    found = [parse(Float64, replace(it[1], "," => "")) for it in eachmatch(Regex(METRIC * "\"[^\n]*\"([0-9.,]+)\"\\s*(?:\n|\$)"), text)]
    return isempty(found) ? nothing : sum(found)
end

function banks(io, on_gpu)
    println(io, "\n| program | array, padding | pairs in one bank, plain | padded | ncu, plain | ncu, padded |")
    println(io, "| --- | --- | ---: | ---: | ---: | ---: |")
    for (name, side) in TILED
        file = joinpath(ROOT, name)
        told = output_of(`$TOOL explain $file --target cuda`)
        found = collect(eachmatch(r"^  (.*): (\d+) instead of (\d+) pairs of threads"m, told))
        isempty(found) && continue
        measured = ["-", "-"]
        if on_gpu
            schedule = output_of(`$TOOL transpile $file --target cuda --emit schedule`)
            mktempdir() do folder
                plain, padded = joinpath(folder, "plain.jl"), joinpath(folder, "padded.jl")
                write(padded, schedule)
                write(plain, join((line for line in split(schedule, '\n') if !occursin(r"^\s*pad\(", line)), '\n'))
                measured = [(it = counted(file, side, path); it === nothing ? "-" : @sprintf("%.0f", it)) for path in (plain, padded)]
            end
        end
        for it in found
            println(io, "| $name | $(it[1]) | $(it[3]) | $(it[2]) | $(measured[1]) | $(measured[2]) |")
        end
    end
end

# Programs whose arrays in a GPU's memory get columns of whole sectors, and sizes that are no multiples of a sector.
const SECTORED = ["copies of arguments" => """
    @tessella function smoothed!(A::Matrix{Float32}, B::Matrix{Float32})
        for t in 1:100
            for j in 1:size(A, 2), i in 1:size(A, 1)
                @comp S B[i, j] = 2f0 * A[i, j]
            end
            for j in 1:size(A, 2), i in 1:size(A, 1)
                @comp R A[i, j] = B[i, j] + B[1, 1]
            end
        end
    end
    """, "local arrays" => """
    @tessella function smoothed!(A::Matrix{Float32}, B::Matrix{Float32})
        u = Matrix{Float32}(undef, 4099, 4096)
        v = Matrix{Float32}(undef, 4099, 4096)
        for j in 1:4096, i in 1:4099
            @comp Begin u[i, j] = A[i, j]
        end
        for t in 1:100
            for j in 1:4096, i in 1:4099
                @comp S v[i, j] = 2f0 * u[i, j]
            end
            for j in 1:4096, i in 1:4099
                @comp R u[i, j] = v[i, j] + v[1, 1]
            end
        end
        for j in 1:4096, i in 1:4099
            @comp End B[i, j] = u[i, j]
        end
    end
    """]
const SECTORED_SIZES = ["A_1=4099", "A_2=4096", "B_1=4099", "B_2=4096"]

# Sums of three columns of a local array, from its first row on and from its second: what `pad` gives whose columns then begin at one place
# of their vectors. One thread.
columns(rows, first) = """
    @tessella function columns!(B::Matrix{Float32}, A::Matrix{Float32}, steps::Int)
        tmp = Matrix{Float32}(undef, $rows, 30)
        for j in 1:30, i in 1:$rows
            @comp S tmp[i, j] = 3f0 * A[i, j]
        end
        for t in 1:steps
            for j in 2:29, i in $first:$rows
                @comp R B[i, j] = B[i, j] + tmp[i, j-1] + tmp[i, j] + tmp[i, j+1]
            end
        end
    end
    """

function vectors(io)
    println(io, "\n| local array | rows from | pad | plain (ms) | padded (ms) |")
    println(io, "| --- | ---: | ---: | ---: | ---: |")
    mktempdir() do folder
        file, plain, padded = (joinpath(folder, it) for it in ("program.jl", "plain.txt", "padded.txt"))
        write(plain, "vectorize(R, i, 8)\n")
        for rows in (101, 1001, 4001), first in (1, 2)
            write(file, columns(rows, first))
            pad = mod(-rows, 8)
            write(padded, "vectorize(R, i, 8)\npad(tmp, ($pad, 0))\n")
            sizes = ["steps=$(2000000 ÷ rows)", "A_1=$rows", "A_2=30", "B_1=$rows", "B_2=30"]
            function time_of(schedule)
                text = output_of(`$TOOL run $file --repeat 30 --no-compare --size $sizes --schedule $schedule`)
                found = match(r"compiled +([0-9.]+) ms", text)
                return found === nothing ? Inf : parse(Float64, found[1])
            end
            # In turns: plain, padded, and so on.
            times = [time_of(it) for _ in 1:5 for it in (plain, padded)]
            @printf(io, "| %d x 30 | %d | %d | %.2f | %.2f |\n", rows, first, pad, minimum(times[1:2:end]), minimum(times[2:2:end]))
        end
    end
end

# Milliseconds of all kernels of a file's program under a schedule, the fastest of several runs.
function kernels_time(file, sizes, schedule)
    text = output_of(`$TOOL run $file --target cuda --profile --repeat 1 --no-compare --size $sizes --schedule $schedule`)
    found = match(r"kernels together ([0-9.]+) (s|ms|µs)", text)
    return found === nothing ? nothing : parse(Float64, found[1]) * Dict("s" => 1e3, "ms" => 1.0, "µs" => 1e-3)[found[2]]
end

function sectors(io)
    println(io, "\n| program | padding | kernels, plain (ms) | padded (ms) |")
    println(io, "| --- | --- | ---: | ---: |")
    mktempdir() do folder
        for (name, program) in SECTORED
            file, plain, padded = (joinpath(folder, it) for it in ("program.jl", "plain.jl", "padded.jl"))
            write(file, program)
            schedule = output_of(`$TOOL transpile $file --target cuda --emit schedule`)
            write(padded, schedule)
            write(plain, join((line for line in split(schedule, '\n') if !occursin(r"^\s*pad\(", line)), '\n'))
            pads = join((strip(it.match) for it in eachmatch(r"pad\(.*", schedule)), ", ")
            # In turns: plain, padded, and so on.
            times = [kernels_time(file, SECTORED_SIZES, it) for _ in 1:2 for it in (plain, padded)]
            least(of) = any(isnothing, of) ? "-" : @sprintf("%.3f", minimum(of))
            println(io, "| $name | $pads | $(least(times[1:2:end])) | $(least(times[2:2:end])) |")
        end
    end
end

function filled(T, n, pad)
    A = Tessella.padded(T, n, n; pads = (pad,))
    for j in 1:n, i in 1:n
        A[i, j] = T(sin(i + 3j))
    end
    return A
end

function fastest(f, B, A, seconds)
    f(B, A)
    best, until = Inf, time() + seconds
    while time() < until
        best = min(best, @elapsed f(B, A))
    end
    return best
end

# Times stencils over padded arrays; whether a result differs.
function on_cpu(io, seconds)
    failed = false
    println(io, Sys.cpu_info()[1].model, ", milliseconds of the fastest call:\n")
    println(io, "| stencil | type | n | threads | ", join(("pad $pad" for pad in PADS), " | "), " |")
    println(io, "| --- | --- | ---: | ---: | ", join(("---:" for _ in PADS), " | "), " |")
    for (name, T, n) in (("star", Float32, 2048), ("star", Float64, 1024), ("box", Float64, 1024), ("turned", Float64, 1024)),
        threads in (1, 2)

        f = getfield(PaddingBench, Symbol(name, threads, "!"))
        expected, times = nothing, Float64[]
        for pad in PADS
            A = filled(T, n, pad)
            B = Tessella.padded(T, n, n; pads = (pad,))
            fill!(B, 0)
            push!(times, fastest(f, B, A, seconds))
            result = collect(B)
            expected === nothing && (expected = result)
            failed |= result != expected
        end
        @printf(io, "| %s | %s | %d | %d | %s |\n", name, T, n, threads, join((@sprintf("%.3f", 1000t) for t in times), " | "))
    end
    return failed
end

function main(arguments)
    seconds = "--quick" in arguments ? 0.02 : 0.5
    for argument in arguments
        startswith(argument, "--seconds=") && (seconds = parse(Float64, argument[length("--seconds=")+1:end]))
    end
    output, on_gpu, tables = nothing, "--gpu" in arguments, ["cpu", "vectors", "banks", "sectors"]
    for argument in arguments
        startswith(argument, "--tables=") && (tables = split(argument[length("--tables=")+1:end], ','))
        startswith(argument, "--output=") && (output = argument[length("--output=")+1:end])
    end
    failed, io = false, IOBuffer()
    "cpu" in tables && (failed = on_cpu(io, seconds))
    isfile(TOOL) && "vectors" in tables && vectors(io)
    isfile(TOOL) && "banks" in tables && banks(io, on_gpu)
    isfile(TOOL) && "sectors" in tables && on_gpu && sectors(io)
    text = String(take!(io))
    print(text)
    output === nothing || write(output, text)
    return failed ? 1 : 0
end

end

exit(PaddingBench.main(ARGS))
