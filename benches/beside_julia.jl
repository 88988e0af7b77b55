# Functions beside their plain selves, in one process: `OMP_NUM_THREADS=1 julia --project=julia-pkg benches/beside_julia.jl`.
# Results are compared bit for bit before anything is timed; the best of many calls counts.

using Random
using Tessella

module Plain end
module Compiled
using Tessella
end

"Defines a function twice: as plain Julia, and with `@tessella`."
macro both(definition)
    marked = Expr(:macrocall, Symbol("@tessella"), __source__, deepcopy(definition))
    Core.eval(Plain, definition)
    Core.eval(Compiled, marked)
    return nothing
end

@both function histogram!(h, x, lo, w)
    nb = length(h)
    for i in eachindex(x)
        b = clamp(floor(Int, (x[i] - lo) / w) + 1, 1, nb)
        h[b] += 1
    end
end

@both function histogram_inside!(h, x, lo, hi)
    nb = length(h)
    w = (hi - lo) / nb
    for i in eachindex(x)
        if lo <= x[i] < hi
            h[min(floor(Int, (x[i] - lo) / w) + 1, nb)] += 1
        end
    end
end

@both function snapshots!(snaps, p, q, nt, every)
    m, n = size(p)
    ks = 0
    for k in 1:nt
        @inbounds for j in 2:n-1, i in 2:m-1
            q[i, j] = 0.25 * (p[i-1, j] + p[i+1, j] + p[i, j-1] + p[i, j+1])
        end
        @inbounds for j in 2:n-1, i in 2:m-1
            p[i, j] = q[i, j]
        end
        if k % every == 0
            ks += 1
            snaps[:, :, ks] .= p
        end
    end
end

@both function sparse!(y, ptr, col, val, x)
    for i in eachindex(y)
        s = 0.0
        for k in ptr[i]:ptr[i+1]-1
            s += val[k] * x[col[k]]
        end
        y[i] = s
    end
end

@both function axpy!(y, a, x)
    for i in eachindex(y, x)
        y[i] += a * x[i]
    end
end

"The fastest call, in µs."
function fastest(f, arguments)
    f(arguments...)
    once = @elapsed f(arguments...)
    calls = clamp(round(Int, 2e-4 / max(once, 1e-8)), 1, 100_000)
    batch() = (@elapsed for _ in 1:calls; f(arguments...); end) / calls
    return 1e6 * minimum(batch() for _ in 1:100)
end

function compare(name, what, arguments)
    plain, compiled = getfield(Plain, name), getfield(Compiled, name)
    one, two = deepcopy(arguments), deepcopy(arguments)
    Base.invokelatest(plain, one...)
    Base.invokelatest(compiled, two...)
    isequal(one, two) || error("$name: results differ")
    times = [Base.invokelatest(fastest, f, deepcopy(arguments)) for f in (plain, compiled, plain, compiled)]
    julia, tessella = min(times[1], times[3]), min(times[2], times[4])
    shown = round.((julia, tessella, tessella / julia); sigdigits = 3)
    println(rpad("$name $what", 32), " plain ", shown[1], " µs, compiled ", shown[2], " µs, ratio ", shown[3])
end

rows(n, each) = (zeros(n), collect(1:each:n*each+1), rand(1:n, n * each), rand(n * each), rand(n))

Random.seed!(1)
for n in (1000, 10^6)
    compare(:histogram!, "n=$n", (zeros(Int, 100), rand(n), 0.0, 0.01))
    compare(:histogram_inside!, "n=$n", (zeros(Int, 100), rand(n), 0.0, 1.0))
end
for n in (8, 64, 256)
    compare(:snapshots!, "n=$n", (zeros(n, n, 10), rand(n, n), zeros(n, n), 50, 10))
end
for n in (4, 1000, 10^5)
    compare(:sparse!, "n=$n", rows(n, min(n, 7)))
    compare(:axpy!, "n=$n", (rand(n), 0.5, rand(n)))
end
