"""
Particles and sampling: pair loops with cut-offs, Verlet, N-body, particle-in-cell deposits, Monte Carlo weights and resampling.
"""
module Molecules

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

@inline wrap(dx, L) = dx - L * round(dx / L)

"Lennard-Jones forces of all pairs within a cut-off, and the energy."
@tessella function pair_forces!(f, x, L, rc)
    N = size(x, 2)
    fill!(f, 0)
    energy = 0.0
    rc2 = rc^2
    for i in 1:N-1
        for j in i+1:N
            dx = wrap(x[1, i] - x[1, j], L)
            dy = wrap(x[2, i] - x[2, j], L)
            dz = wrap(x[3, i] - x[3, j], L)
            r2 = dx^2 + dy^2 + dz^2
            r2 > rc2 && continue
            s6 = inv(r2)^3
            energy += 4s6 * (s6 - 1)
            ff = 48 * s6 * (s6 - 0.5) / r2
            f[1, i] += ff * dx
            f[2, i] += ff * dy
            f[3, i] += ff * dz
            f[1, j] -= ff * dx
            f[2, j] -= ff * dy
            f[3, j] -= ff * dz
        end
    end
    return energy
end

function kick!(v, f, m, dt)
    for i in axes(v, 2), d in axes(v, 1)
        v[d, i] += dt / 2 * f[d, i] / m[i]
    end
end

"A bead-spring chain."
function springs!(f, x, k)
    f .= 0
    n = size(x, 2)
    for i in 1:n-1
        for d in 1:size(x, 1)
            t = k * (x[d, i+1] - x[d, i])
            f[d, i] += t
            f[d, i+1] -= t
        end
    end
end

@tessella function verlet!(x, v, m, dt, steps; k = 10.0)
    f = similar(x)
    springs!(f, x, k)
    for s in 1:steps
        kick!(v, f, m, dt)
        x .+= dt .* v
        springs!(f, x, k)
        kick!(v, f, m, dt)
    end
    kinetic = sum(m[i] * sum(v[d, i]^2 for d in axes(v, 1)) for i in axes(v, 2)) / 2
    return kinetic
end

"Gravity with softening; bodies are columns of seven numbers: mass, position, velocity."
@tessella function nbody!(bodies::Matrix{Float64}, dt, ε = 1e-3)
    n = size(bodies, 2)
    for i in 1:n
        ax = ay = az = 0.0
        xi, yi, zi = bodies[2, i], bodies[3, i], bodies[4, i]
        for j in 1:n
            i == j && continue
            dx, dy, dz = bodies[2, j] - xi, bodies[3, j] - yi, bodies[4, j] - zi
            d² = dx * dx + dy * dy + dz * dz + ε^2
            mag = bodies[1, j] / (d² * sqrt(d²))
            ax += mag * dx
            ay += mag * dy
            az += mag * dz
        end
        bodies[5, i] += dt * ax
        bodies[6, i] += dt * ay
        bodies[7, i] += dt * az
    end
    @views bodies[2:4, :] .+= dt .* bodies[5:7, :]
    return nothing
end

"Cloud-in-cell deposit of charges on a periodic grid."
@tessella function deposit!(ρ, x, q, h)
    ρ .= 0
    ng = length(ρ)
    for p in eachindex(x)
        s = x[p] / h
        c = floor(Int, s)
        w = s - c
        ρ[mod(c, ng)+1] += q[p] * (1 - w) / h
        ρ[mod(c + 1, ng)+1] += q[p] * w / h
    end
    ρ
end

"Poisson on a periodic line by integrating twice."
@tessella function field!(E, ρ, h)
    n = length(ρ)
    ρ̄ = sum(ρ) / n
    E[1] = 0
    for i in 2:n
        E[i] = E[i-1] + h * (ρ[i-1] - ρ̄)
    end
    E .-= sum(E) / n
end

"Normalised weights of a particle filter and the effective sample size."
@tessella function reweight!(w, loglik)
    top = maximum(loglik)
    for i in eachindex(w)
        w[i] *= 1 / (1 + (top - loglik[i])^2)
    end
    w ./= sum(w)
    return 1 / sum(abs2, w)
end

"Systematic resampling through the cumulated weights."
@tessella function resample!(index, w, u0)
    n = length(w)
    c = cumsum(w)
    for k in 1:n
        u = (k - 1 + u0) / n
        found = n
        for i in n:-1:1
            if c[i] >= u
                found = i
            end
        end
        index[k] = found
    end
    index
end

"Importance sampling: a mean and its variance of weighted samples."
@tessella function estimate(x, w)
    W = sum(w)
    μ = sum(w .* x) / W
    σ² = sum(wi * (xi - μ)^2 for (wi, xi) in zip(w, x)) / W
    return (mean = μ, var = σ², ess = W^2 / sum(w .^ 2))
end

box(T, n) = (positive_of(T, 3, n) .- T(0.5)) .* T(4)

program(pair_forces!, (T, n) -> (zeros(T, 3, n), cumsum(box(T, n), dims = 2), T(12), T(2.5)); slow = true)
program(verlet!, (T, n) -> (values_of(T, 2, n), values_of(T, 2, n), positive_of(T, n), T(0.01), 4); slow = true)
program(nbody!, (T, n) -> (positive_of(T, 7, n), 0.125); slow = true)
program(deposit!, (T, n) -> (zeros(T, 5), positive_of(T, n) .* 3, values_of(T, n), T(0.5)); types = [Float32, Float64], slow = true)
program(field!, (T, n) -> (zeros(T, n), values_of(T, n), 0.25); sizes = [1, 2, 3, 13])
program(reweight!, (T, n) -> (positive_of(T, n), values_of(T, n)); sizes = [1, 2, 3, 13])
program(resample!, (T, n) -> (zeros(Int, n), positive_of(T, n) ./ 13, 0.375))
program(estimate, (T, n) -> (values_of(T, n), positive_of(T, n)); sizes = [1, 2, 3, 13])

end
