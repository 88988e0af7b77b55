"""
Metropolis sweeps of the Ising model with random numbers given, checkerboard and typewriter order; observables; cellular automata.
"""
module Ising

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

@inline wrap(i, n) = i < 1 ? i + n : i > n ? i - n : i

@inline function neighbour_sum(s, i, j, nx, ny)
    s[wrap(i - 1, nx), j] + s[wrap(i + 1, nx), j] + s[i, wrap(j - 1, ny)] + s[i, wrap(j + 1, ny)]
end

"One sweep over the sites of one colour; `r` holds a random number for each site."
@tessella function half_sweep!(s, r, colour, β; J = 1, H = 0.0)
    nx, ny = size(s)
    for j in 1:ny, i in 1:nx
        if (i + j) % 2 == colour
            ΔE = 2 * s[i, j] * (J * neighbour_sum(s, i, j, nx, ny) + H)
            # 1 - ΔE + ... instead of exp, as the acceptance of Glauber to third order
            p = 1 / (1 + β * ΔE + (β * ΔE)^2 / 2)
            if ΔE <= 0 || r[i, j] < p
                s[i, j] = -s[i, j]
            end
        end
    end
    return s
end

@tessella function sweeps!(s::Matrix{Int8}, r::Array{T,3}, table::Vector{T}) where {T}
    nx, ny = size(s)
    nsweeps = size(r, 3)
    for t in 1:nsweeps
        for j in 1:ny
            jm = j == 1 ? ny : j - 1
            jp = j == ny ? 1 : j + 1
            for i in 1:nx
                im1 = i == 1 ? nx : i - 1
                ip1 = i == nx ? 1 : i + 1
                local_field = s[im1, j] + s[ip1, j] + s[i, jm] + s[i, jp]
                ΔE = 2 * s[i, j] * local_field
                accept = ΔE <= 0 ? true : r[i, j, t] < (ΔE == 4 ? table[1] : table[2])
                s[i, j] = accept ? -s[i, j] : s[i, j]
            end
        end
    end
end

"Magnetisation and energy of each configuration."
@tessella function observables!(M, E, s)
    nx, ny, nt = size(s)
    for t in 1:nt
        m = 0
        e = 0
        for j in 1:ny, i in 1:nx
            m += s[i, j, t]
            e -= s[i, j, t] * (s[mod1(i + 1, nx), j, t] + s[i, mod1(j + 1, ny), t])
        end
        M[t] = m / (nx * ny)
        E[t] = e / (nx * ny)
    end
end

@tessella function autocorrelation!(C, x)
    n = length(x)
    μ = sum(x) / n
    σ² = sum((x[i] - μ)^2 for i in 1:n) / n
    for lag in 0:length(C)-1
        acc = 0.0
        for i in 1:n-lag
            acc += (x[i] - μ) * (x[i+lag] - μ)
        end
        C[lag+1] = acc / ((n - lag) * σ²)
    end
    return C
end

"Conway's game of life on a torus, one generation."
@tessella function life!(new, old)
    m, n = size(old)
    for j in 1:n, i in 1:m
        alive = 0
        for dj in -1:1, di in -1:1
            if !(di == 0 && dj == 0)
                alive += old[mod1(i + di, m), mod1(j + dj, n)]
            end
        end
        new[i, j] = alive == 3 || (alive == 2 && old[i, j] == 1) ? 1 : 0
    end
    return new
end

"Elementary cellular automaton of Wolfram's `rule`, each row a generation."
@tessella function wolfram!(A::Matrix{Bool}, rule::Int)
    n, steps = size(A)
    for t in 2:steps, i in 1:n
        left = i > 1 ? A[i-1, t-1] : false
        right = i < n ? A[i+1, t-1] : false
        k = 4 * left + 2 * A[i, t-1] + right
        A[i, t] = (rule >> k) & 1 == 1
    end
end

"Greenberg-Hastings: a cell gets excited by an excited neighbour, and recovers."
@tessella function excitable!(next::Array{UInt8,2}, now::Array{UInt8,2}, states)
    for I in CartesianIndices(now)
        i, j = Tuple(I)
        c = now[i, j]
        if c == 0
            hot = false
            for dj in max(j - 1, 1):min(j + 1, size(now, 2)), di in max(i - 1, 1):min(i + 1, size(now, 1))
                hot |= now[di, dj] == 1
            end
            next[i, j] = hot
        else
            next[i, j] = (c + 1) % states
        end
    end
    return nothing
end

spins(sizes...) = Int8[isodd(k * k + k ÷ 3) ? 1 : -1 for k in LinearIndices(sizes)]

program(half_sweep!, (T, n) -> (2 .* integers_of(0, 1, n, n + 2) .- 1, positive_of(T, n, n + 2) .- T(0.5), 1, 0.3); types = [Float32, Float64], slow = true)
program(sweeps!, (T, n) -> (spins(n, n), positive_of(T, n, n, 2) .- T(0.5), T[0.17, 0.03]))
program(observables!, (T, n) -> (zeros(T, 2), zeros(T, 2), Int.(spins(n, n, 2))))
program(autocorrelation!, (T, n) -> (zeros(T, n ÷ 2), values_of(T, n)))
program(life!, (T, n) -> (zeros(T, n, n), T.(integers_of(0, 1, n, n))); types = [Int], slow = true)
program(wolfram!, (T, n) -> (Bool[t == 1 && i == n ÷ 2 + 1 for i in 1:n, t in 1:n], 30))
program(excitable!, (T, n) -> (zeros(UInt8, n, n), UInt8.(integers_of(0, 4, n, n)), 5))

end
