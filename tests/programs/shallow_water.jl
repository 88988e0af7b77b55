"""
Shallow water on a rectangle: Lax-Friedrichs with reflecting walls, and the semi-implicit upwind scheme on a staggered grid.
"""
module ShallowWater

using Tessella
using ..Programs: program, values_of, positive_of

const GRAVITY = 9.81
const MIN_DEPTH = 1e-3

"Physical flux along x of the conserved state (h, hu, hv)."
@inline function flux_x(h, hu, hv)
    u = hu / max(h, MIN_DEPTH)
    return hu, hu * u + GRAVITY / 2 * h^2, hv * u
end

"Physical flux along y."
@inline function flux_y(h, hu, hv)
    v = hv / max(h, MIN_DEPTH)
    return hv, hu * v, hv * v + 0.5 * GRAVITY * h^2
end

@inline average(a, b, c, d) = (a + b + c + d) / 4

function reflect!(h, hu, hv)
    nx, ny = size(h)
    for j in 1:ny
        h[1, j] = h[2, j];        h[nx, j] = h[nx-1, j]
        hu[1, j] = -hu[2, j];     hu[nx, j] = -hu[nx-1, j]
        hv[1, j] = hv[2, j];      hv[nx, j] = hv[nx-1, j]
    end
    for i in 1:nx
        h[i, 1] = h[i, 2];        h[i, ny] = h[i, ny-1]
        hu[i, 1] = hu[i, 2];      hu[i, ny] = hu[i, ny-1]
        hv[i, 1] = -hv[i, 2];     hv[i, ny] = -hv[i, ny-1]
    end
    return nothing
end

"""
    lax_step!(h, hu, hv, hn, hun, hvn; dt, dx, dy)

One step of Lax-Friedrichs: `hn`, `hun`, `hvn` get the new state.
"""
@tessella function lax_step!(hn, hun, hvn, h, hu, hv; dt = 0.01, dx = 1.0, dy = dx)
    nx, ny = size(h)
    λx, λy = dt / 2dx, dt / 2dy
    @inbounds for j in 2:ny-1, i in 2:nx-1
        fe1, fe2, fe3 = flux_x(h[i+1, j], hu[i+1, j], hv[i+1, j])
        fw1, fw2, fw3 = flux_x(h[i-1, j], hu[i-1, j], hv[i-1, j])
        gn1, gn2, gn3 = flux_y(h[i, j+1], hu[i, j+1], hv[i, j+1])
        gs1, gs2, gs3 = flux_y(h[i, j-1], hu[i, j-1], hv[i, j-1])
        hn[i, j] = average(h[i-1, j], h[i+1, j], h[i, j-1], h[i, j+1]) - λx * (fe1 - fw1) - λy * (gn1 - gs1)
        hun[i, j] = average(hu[i-1, j], hu[i+1, j], hu[i, j-1], hu[i, j+1]) - λx * (fe2 - fw2) - λy * (gn2 - gs2)
        hvn[i, j] = average(hv[i-1, j], hv[i+1, j], hv[i, j-1], hv[i, j+1]) - λx * (fe3 - fw3) - λy * (gn3 - gs3)
    end
    reflect!(hn, hun, hvn)
    return nothing
end

@tessella function lax_friedrichs!(h, hu, hv, nsteps; dt = 0.005)
    nx, ny = size(h)
    hn = copy(h); hun = copy(hu); hvn = copy(hv)
    for step = 1:nsteps
        for j = 2:ny-1
            for i = 2:nx-1
                fe = flux_x(h[i+1, j], hu[i+1, j], hv[i+1, j])
                fw = flux_x(h[i-1, j], hu[i-1, j], hv[i-1, j])
                gn = flux_y(h[i, j+1], hu[i, j+1], hv[i, j+1])
                gs = flux_y(h[i, j-1], hu[i, j-1], hv[i, j-1])
                hn[i, j] = average(h[i-1, j], h[i+1, j], h[i, j-1], h[i, j+1]) - dt / 2 * (fe[1] - fw[1] + gn[1] - gs[1])
                hun[i, j] = average(hu[i-1, j], hu[i+1, j], hu[i, j-1], hu[i, j+1]) - dt / 2 * (fe[2] - fw[2] + gn[2] - gs[2])
                hvn[i, j] = average(hv[i-1, j], hv[i+1, j], hv[i, j-1], hv[i, j+1]) - dt / 2 * (fe[3] - fw[3] + gn[3] - gs[3])
            end
        end
        reflect!(hn, hun, hvn)
        h .= hn
        hu .= hun
        hv .= hvn
    end
end

"Depth from the staggered velocities `u[nx+1, ny]`, `v[nx, ny+1]`, upwind."
@tessella function continuity!(η, η₀, u, v, depth; dt = 0.1, dx = 1.0)
    nx, ny = size(η)
    for j in axes(η, 2), i in axes(η, 1)
        uw, ue = u[i, j], u[i+1, j]
        vs, vn = v[i, j], v[i, j+1]
        he = ue > 0 || i == nx ? depth[i, j] : depth[i+1, j]
        hw = uw > 0 && i > 1 ? depth[i-1, j] : depth[i, j]
        hnorth = vn > 0 || j == ny ? depth[i, j] : depth[i, j+1]
        hsouth = vs > 0 && j > 1 ? depth[i, j-1] : depth[i, j]
        η[i, j] = η₀[i, j] - dt / dx * (ue * he - uw * hw + vn * hnorth - vs * hsouth)
    end
end

"Total mass, kinetic and potential energy."
@tessella function diagnostics(h::Matrix{T}, hu, hv) where {T}
    mass = zero(T)
    kinetic = zero(T)
    potential = zero(T)
    for k in eachindex(h, hu, hv)
        h[k] < MIN_DEPTH && continue
        mass += h[k]
        kinetic += (hu[k]^2 + hv[k]^2) / (2 * h[k])
        potential += T(GRAVITY) * h[k]^2 / 2
    end
    return (mass, kinetic, potential)
end

"Largest time step that the CFL condition allows."
@tessella function max_time_step(h, hu, hv, dx; cfl = 0.4)
    fastest = 0.0
    for j in 1:size(h, 2), i in 1:size(h, 1)
        d = max(h[i, j], MIN_DEPTH)
        c = sqrt(GRAVITY * d)
        fastest = max(fastest, abs(hu[i, j]) / d + c, abs(hv[i, j]) / d + c)
    end
    return fastest > 0 ? cfl * dx / fastest : Inf
end

state(T, n) = (positive_of(T, n, n + 1), values_of(T, n, n + 1), 2 .* values_of(T, n, n + 1))

program(lax_step!, (T, n) -> (state(T, n)..., state(T, n)...); types = [Float32, Float64], slow = true)
program(lax_friedrichs!, (T, n) -> (state(T, n)..., 3); slow = true)
program(continuity!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), values_of(T, n + 1, n), values_of(T, n, n + 1), positive_of(T, n, n)))
program(diagnostics, state; types = [Float32, Float64])
program(max_time_step, (T, n) -> (state(T, n)..., 0.5))

end
