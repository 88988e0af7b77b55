# What a call of a compiled function costs above a bare `ccall` of the same code.
#
#     julia --project=julia-pkg benches/call_overhead.jl
#
# Exits with 1 when it is 2 µs or more.

using Tessella
using Printf

@tessella fallback=false function scale_and_sum(A, B, n, factor)
    total = 0.0
    for i in 1:n
        B[i] = factor * A[i]
    end
    for i in 1:n
        total += B[i]
    end
    return total
end

@tessella fallback=false function scale!(A, B, n, factor)
    for i in 1:n
        B[i] = factor * A[i]
    end
end

# The address that the compiled method calls.
function entry_address(f, arguments...)
    definition, types = Tessella.resolve_types(f, typeof(arguments))
    program = Tessella.Program(Tessella.request(definition, Tessella.surroundings(definition), Tessella.type_names(types);
                                                target = :c, emit = Symbol[], load = true))
    return Tessella.entry(program)
end

function bare(entry::Ptr{Cvoid}, A, B, n, factor, calls)
    for _ in 1:calls
        GC.@preserve A B ccall(entry, Int32, (Ptr{Float64}, Int64, Ptr{Float64}, Int64, Int64, Float64),
                               pointer(A), size(A, 1), pointer(B), size(B, 1), n, factor)
    end
end

function bare_with_result(entry::Ptr{Cvoid}, A, B, n, factor, calls)
    total = 0.0
    for _ in 1:calls
        result = Ref{Float64}(0)
        GC.@preserve A B result ccall(
            entry, Int32, (Ptr{Float64}, Int64, Ptr{Float64}, Int64, Int64, Float64, Ref{Float64}),
            pointer(A), size(A, 1), pointer(B), size(B, 1), n, factor, result)
        total += result[]
    end
    return total
end

function compiled(A, B, n, factor, calls)
    for _ in 1:calls
        scale!(A, B, n, factor)
    end
end

function compiled_with_result(A, B, n, factor, calls)
    total = 0.0
    for _ in 1:calls
        total += scale_and_sum(A, B, n, factor)
    end
    return total
end

# Nanoseconds of one call, the least of several rounds, and the bytes that a call allocates.
function measure(run, arguments...; calls = 200_000, rounds = 9)
    run(arguments..., 1)
    seconds = minimum(@elapsed(run(arguments..., calls)) for _ in 1:rounds)
    bytes = @allocated(run(arguments..., calls)) / calls
    return 1e9 * seconds / calls, bytes
end

function report()
    A, B = collect(1.0:4.0), zeros(4)
    worst = 0.0
    @printf("%-34s %12s %12s %12s %14s\n", "a call with 4 elements", "bare ccall", "Tessella", "above it", "allocated")
    cases = (("gives back nothing", scale!, bare, compiled),
             ("gives back a Float64", scale_and_sum, bare_with_result, compiled_with_result))
    for (name, f, by_hand, by_call) in cases
        entry = entry_address(f, A, B, 4, 2.0)
        direct, _ = measure(by_hand, entry, A, B, 4, 2.0)
        called, bytes = measure(by_call, A, B, 4, 2.0)
        worst = max(worst, called - direct)
        @printf("%-34s %9.1f ns %9.1f ns %9.1f ns %8.0f bytes\n", name, direct, called, called - direct, bytes)
    end
    @printf("most above a bare ccall: %.1f ns (limit 2000 ns)\n", worst)
    return worst < 2000
end

report() || exit(1)
