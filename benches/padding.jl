# What padding of arrays gives on this CPU: stencils over arrays whose columns are a power of two long, and over padded ones.
#
#     ./x build; julia --project=julia-pkg benches/padding.jl [--seconds=0.5] [--quick]
#
# One and two threads. Results over padded arrays are compared with those over plain ones first, bit for bit; the script exits
# with 1 if one differs. It takes about a minute.
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

function main(arguments)
    seconds = "--quick" in arguments ? 0.02 : 0.5
    for argument in arguments
        startswith(argument, "--seconds=") && (seconds = parse(Float64, argument[length("--seconds=")+1:end]))
    end
    failed = false
    println("| stencil | type | n | threads | ", join(("pad $pad (ms)" for pad in PADS), " | "), " |")
    println("| --- | --- | ---: | ---: | ", join(("---:" for _ in PADS), " | "), " |")
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
        @printf("| %s | %s | %d | %d | %s |\n", name, T, n, threads, join((@sprintf("%.3f", 1000t) for t in times), " | "))
    end
    return failed ? 1 : 0
end

end

exit(PaddingBench.main(ARGS))
