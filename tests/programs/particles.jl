"""
Particles: gravity by leapfrog, smoothed densities over neighbour lists, cell lists, Lennard-Jones in a periodic box.
"""
module Particles

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

const SOFTENING = 1.0e-2
const SIGMA_2D = 10 / (7 * 3.141592653589793)

"Cubic spline of Monaghan and Lattanzio in two dimensions."
function kernel(r, h)
    q = r / h
    σ = SIGMA_2D / h^2
    if q < 1
        return σ * (1 - 1.5 * q^2 + 0.75 * q^3)
    elseif q < 2
        return σ * 0.25 * (2 - q)^3
    else
        return zero(σ)
    end
end

minimum_image(d, L) = d > L / 2 ? d - L : (d < -L / 2 ? d + L : d)

@tessella function accelerations!(a, x, m)
    n = length(m)
    a .= 0
    for i in 1:n
        ax = ay = az = 0.0
        for j in 1:n
            i == j && continue
            dx = x[1, j] - x[1, i]
            dy = x[2, j] - x[2, i]
            dz = x[3, j] - x[3, i]
            r2 = dx^2 + dy^2 + dz^2 + SOFTENING^2
            w = m[j] / (r2 * sqrt(r2))
            ax += w * dx
            ay += w * dy
            az += w * dz
        end
        a[1, i] = ax
        a[2, i] = ay
        a[3, i] = az
    end
    return nothing
end

@tessella function leapfrog!(x, v, a, m, nsteps; dt = 1e-3)
    for _ in 1:nsteps
        @. v += dt / 2 * a
        @. x += dt * v
        for i in axes(x, 2)
            for d in 1:3
                s = zero(eltype(a))
                for j in axes(x, 2)
                    if j != i
                        r2 = SOFTENING^2
                        for k in 1:3
                            r2 += (x[k, j] - x[k, i])^2
                        end
                        s += m[j] * (x[d, j] - x[d, i]) / (r2 * sqrt(r2))
                    end
                end
                a[d, i] = s
            end
        end
        v .+= (dt / 2) .* a
    end
end

@tessella function energy(x, v, m; G = 1.0)
    n = length(m)
    kinetic = sum(m[i] * (v[1, i]^2 + v[2, i]^2 + v[3, i]^2) / 2 for i in 1:n)
    potential = 0.0
    for i in 1:n-1, j in i+1:n
        r = sqrt((x[1, i] - x[1, j])^2 + (x[2, i] - x[2, j])^2 + (x[3, i] - x[3, j])^2 + SOFTENING^2)
        potential -= G * m[i] * m[j] / r
    end
    return kinetic + potential
end

"Density from lists of neighbours: `neighbours[k, i]` for `k` up to `count[i]`."
@tessella function density!(ρ, x, y, m, neighbours, count; h = 0.5)
    for i in eachindex(ρ)
        s = m[i] * kernel(0.0, h)
        for k in 1:size(neighbours, 1)
            k > count[i] && continue
            j = neighbours[k, i]
            r = hypot(x[i] - x[j], y[i] - y[j])
            s += m[j] * kernel(r, h)
        end
        ρ[i] = s
    end
    ρ
end

"Which cell of a grid of `nc` times `nc` each particle lies in."
@tessella function assign_cells!(cell, counts, x, y, nc::Int)
    fill!(counts, 0)
    for p in eachindex(x)
        cx = clamp(floor(Int, (x[p] + 1) / 2 * nc) + 1, 1, nc)
        cy = clamp(floor(Int, (y[p] + 1) / 2 * nc) + 1, 1, nc)
        cell[p] = (cy - 1) * nc + cx
    end
    for p in eachindex(cell)
        counts[clamp(cell[p], 1, length(counts))] += 1
    end
    return nothing
end

"Lennard-Jones forces in a periodic box, with a cut-off; gives the potential energy."
@tessella function lennard_jones!(F, X::Matrix{T}, L; ε = one(T), σ = one(T), cutoff = 2.5) where {T<:AbstractFloat}
    d, n = size(X)
    fill!(F, zero(T))
    U = zero(T)
    rc2 = T(cutoff)^2
    @inbounds for i in 1:n
        for j in 1:n
            if j == i
                continue
            end
            dx = minimum_image(X[1, i] - X[1, j], L)
            dy = minimum_image(X[2, i] - X[2, j], L)
            r2 = dx * dx + dy * dy
            if 0 < r2 < rc2
                s2 = σ^2 / r2
                s6 = s2^3
                f = 24ε * s6 * (2s6 - 1) / r2
                F[1, i] += f * dx
                F[2, i] += f * dy
                U += 2ε * s6 * (s6 - 1)
            end
        end
    end
    return U
end

body(T, n) = (values_of(T, 3, n), values_of(T, 3, n) ./ 4, values_of(T, 3, n), positive_of(T, n))

program(accelerations!, (T, n) -> (zeros(T, 3, n), values_of(T, 3, n), positive_of(T, n)); types = [Float32, Float64], slow = true)
program(leapfrog!, (T, n) -> (body(T, n)..., 3); slow = true)
program(energy, (T, n) -> (values_of(T, 3, n), values_of(T, 3, n), positive_of(T, n)))
program(density!, (T, n) -> (zeros(T, n), values_of(T, n), reverse(values_of(T, n)), positive_of(T, n), integers_of(1, max(n, 1), 4, n), integers_of(0, 4, n)))
program(assign_cells!, (T, n) -> (zeros(Int, n), zeros(Int, 9), values_of(T, n), reverse(values_of(T, n)), 3))
program(lennard_jones!, (T, n) -> (ones(T, 2, n), 2 .* values_of(T, 2, n), T(4)); types = [Float32, Float64])

end
