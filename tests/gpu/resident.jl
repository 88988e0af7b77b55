# Arrays that stay on the GPU, and subscripts that data give: what looks at them runs where they are. Results equal plain Julia's, a subscript that
# is outside raises its exception, and nothing has been written then; nor has it where blocks that keep their tiles cannot hold a matrix.
module Resident

using Tessella
using Printf

@tessella target=:cuda function gather!(y, x, idx)
    for i in eachindex(idx)
        y[i] = x[idx[i]]
    end
end

@tessella target=:cuda function counted!(counts, idx)
    for i in eachindex(idx)
        counts[idx[i]] += 1
    end
end

@tessella target=:cuda function spmv!(y, ptr, col, val, x)
    for r in 1:length(y)
        s = zero(eltype(y))
        for e in ptr[r]:ptr[r+1]-1
            s += val[e] * x[col[e]]
        end
        y[r] = s
    end
end

@tessella target=:cuda function indegree!(deg, ptr, col)
    for r in 1:length(ptr)-1
        for e in ptr[r]:ptr[r+1]-1
            deg[col[e]] += 1
        end
    end
end

# Subscripts that are known only here are tested on the way.
@tessella target=:cuda function lent!(force, cell, weight, from)
    for i in eachindex(from)
        cell[i] = 2 * from[i] - 1
        force[i] = weight[(cell[i]+1)÷2]
    end
end

# What stands before the time loop writes, too.
@tessella target=:cuda function kept!(A, B, C, steps)
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp Q C[i, j] = 2.0f0 * A[i, j]
    end
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end

@schedule kept! begin
    grid_sync(S, t, 4)
    auto()
end

# Matrices that fit, and larger ones, which are refused with numbers, on the host and on the GPU.
function check_kept(see)
    for (side, fits) in [(0, true), (5, true), (500, true), (1500, true), (4000, false), (9000, false)], steps in (0, 9)
        what = "kept! $side, $steps steps"
        given = (Float32[mod(3i + 5j, 11) / 4 for i in 1:side, j in 1:side], zeros(Float32, side, side), zeros(Float32, side, side))
        expected = map(copy, given)
        runs = fits || steps == 0
        runs && Tessella.original(kept!)(expected..., steps)
        for arguments in (map(copy, given), map(to_device, given))
            said = try
                kept!(arguments..., steps)
                ""
            catch error
                sprint(showerror, error)
            end
            refused = occursin(r"E0707.* in \d+ blocks with \d+ bytes .* the GPU runs \d+", said)
            see(runs ? isempty(said) : refused, "$what: $said")
            see(isequal(map(Array, arguments), expected), "$what differs")
        end
    end
end

places(n, most) = Int32[1 + mod(7919i + i ÷ 3, most) for i in 1:n]
# Rows of 0 to 8 entries.
pointers(n) = Int32[1; 1 .+ cumsum([mod(5r, 9) for r in 1:n])]

function matrix(n)
    ptr = pointers(n)
    col = places(ptr[end] - 1, max(n, 1))
    return ptr, col, Float32[mod(e, 17) / 4 for e in 1:length(col)]
end

# Rows of about so many elements, every third place beside the diagonal.
function band(rows, width, T)
    ptr = cumsum([1; [max(width - 1 + mod(r, 3), 0) for r in 1:rows]])
    col = [mod(r + 3k, rows) + 1 for r in 1:rows for k in 1:ptr[r+1]-ptr[r]]
    return ptr, col, T[1 / (1 + mod(k, 97)) for k in eachindex(col)]
end

const PROGRAMS = [
    (gather!, n -> (zeros(Float32, n), Float32[i / 8 for i in 1:n], places(n, max(n, 1))), 3),
    (counted!, n -> (zeros(Int32, n), places(3n, max(n, 1))), 2),
    (counted!, n -> (zeros(Int64, n), Int64.(places(3n, max(n, 1)))), 2),
    (spmv!, n -> ((ptr, col, val) = matrix(n); (zeros(Float32, n), ptr, col, val, Float32[i / 8 for i in 1:n])), 3),
    (spmv!, n -> ((ptr, col, val) = band(n, 11, Float32); (zeros(Float32, n), ptr, col, val, Float32[i / 8 for i in 1:n])), 3),
    (lent!, n -> (zeros(Float32, n), zeros(Int64, n), Float32[i / 8 for i in 1:n], Int64.(places(n, max(n, 1)))), 4),
    (indegree!, n -> ((ptr, col, _) = matrix(n); (zeros(Int64, n), ptr, col)), 3),
]

# The array of this position has a subscript that is outside.
function spoiled(arguments, at, place)
    given = map(copy, arguments)
    given[at][place] = length(given[1]) + 5
    return given
end

function exception(f, arguments)
    try
        f(arguments...)
        return nothing
    catch error
        return typeof(error)
    end
end

# How many checks agreed, and what did not.
function check()
    passed, faults = 0, String[]
    see(good, what) = good ? (passed += 1) : push!(faults, what)
    for (f, inputs, at) in PROGRAMS, n in [0, 1, 33, 4099, 300007]
        what = "$(nameof(f)) $n"
        given = inputs(n)
        expected = map(copy, given)
        Tessella.original(f)(expected...)
        resident = map(to_device, given)
        try
            f(resident...)
            see(isequal(map(Array, resident), expected), "$what differs")
            # One array on the GPU, the others on the host.
            mixed = map(copy, given)
            one = to_device(mixed[at])
            f(ntuple(k -> k == at ? one : mixed[k], length(mixed))...)
            see(isequal(mixed[1], expected[1]), "$what with one array on the GPU differs")
        catch error
            push!(faults, "$what: $(sprint(showerror, error))")
        end
        for place in unique([1, length(given[at]) ÷ 2 + 1, length(given[at])])
            isempty(given[at]) && continue
            wrong = spoiled(given, at, place)
            there = map(to_device, wrong)
            see(exception(f, there) === exception(Tessella.original(f), map(copy, wrong)), "$what, outside at $place: another exception")
            see(isequal(map(Array, there), wrong), "$what, outside at $place: something was written")
        end
    end
    check_kept(see)
    return passed, faults
end

# Whole calls on arrays that are there, in milliseconds, beside what a kernel takes.
function bench()
    n = 1 << 24
    many = (zeros(Int32, 1 << 20), places(n, 1 << 20))
    rows = 1 << 21
    ptr, col, val = matrix(rows)
    wide = map([(4_000_000, 7), (2_000_000, 16), (1_000_000, 32), (300_000, 100), (100_000, 300)]) do (count, width)
        spmv!, (zeros(count), band(count, width, Float64)..., zeros(count))
    end
    programs = [(counted!, many), (gather!, (zeros(Float32, n), zeros(Float32, n), places(n, n))),
                (spmv!, (zeros(Float32, rows), ptr, col, val, zeros(Float32, rows)))]
    for (f, given) in [programs; wide]
        there = map(to_device, given)
        f(there...)
        resident = minimum(@elapsed(f(there...)) for _ in 1:5)
        f(given...)
        hosted = minimum(@elapsed(f(given...)) for _ in 1:3)
        kernels = 1e3 * Tessella.profile(f, there...; repeat = 3).kernels_time
        megabytes = sum(sizeof, given) / 1e6
        @printf("%-10s %8.1f MB, arrays on the GPU %9.3f ms a call, kernels %9.4f ms; on the host %9.2f ms a call\n", nameof(f), megabytes, 1e3resident, kernels, 1e3hosted)
    end
end

end
