"""
Flow solvers: staggered grids as in immersed-boundary codes, lattice Boltzmann, finite volumes with limiters and named fluxes, vorticity and streamfunction.
"""
module Flows

using Tessella
using ..Programs: program, values_of, positive_of

# One step in direction `d` of a plane.
@inline δ(d) = d == 1 ? (1, 0) : (0, 1)
@inline ϕ(a, f, i, j) = a == 1 ? (f[i, j] + f[i-1, j]) / 2 : (f[i, j] + f[i, j-1]) / 2
@inline quick(u, c, d) = (5c + 2d - u) / 6
@inline median3(a, b, c) = a > b ? (b >= c ? b : (a > c ? c : a)) : (b <= c ? b : (a < c ? c : a))
@inline λ_quick(u, c, d) = median3((5c + 2d - u) / 6, c, median3(10c - 9u, c, d))

"Convection and diffusion of both components of a staggered velocity."
@tessella function conv_diff!(r, u; ν = 0.1)
    r .= 0
    m, n, D = size(u)
    for i in 1:2, j in 1:2
        di, dj = δ(j)
        for J in 3:n-1, I in 3:m-1
            Φ = (u[I, J, j] + u[I-di, J-dj, j]) / 2 * (u[I, J, i] + u[I-di, J-dj, i]) / 2 -
                ν * (u[I, J, i] - u[I-di, J-dj, i])
            r[I, J, i] += Φ
            r[I-di, J-dj, i] -= Φ
        end
    end
end

@tessella function divergence!(σ, u)
    for I in CartesianIndices((2:size(σ, 1)-1, 2:size(σ, 2)-1))
        σ[I] = u[I[1]+1, I[2], 1] - u[I, 1] + u[I[1], I[2]+1, 2] - u[I, 2]
    end
end

"A limited upwind flux of a scalar, both ways of the wind."
@tessella function scalar_flux!(F, q, u)
    n = length(q)
    for i in 3:n-1
        F[i] = u[i] > 0 ? u[i] * λ_quick(q[i-2], q[i-1], q[i]) : u[i] * λ_quick(q[i+1], q[i], q[i-1])
    end
    return F
end

"Boundary conditions on all sides of one component: given normal, copied tangential."
@tessella function bc!(a, A)
    n, m, N = size(a)
    for i in 1:N
        for j in 1:2
            if i == j
                if j == 1
                    a[1, :, i] .= A[i]
                    a[2, :, i] .= A[i]
                    a[n, :, i] .= A[i]
                else
                    a[:, 1, i] .= A[i]
                    a[:, 2, i] .= A[i]
                    a[:, m, i] .= A[i]
                end
            else
                if j == 1
                    @views a[1, :, i] .= a[2, :, i]
                    @views a[n, :, i] .= a[n-1, :, i]
                else
                    @views a[:, 1, i] .= a[:, 2, i]
                    @views a[:, m, i] .= a[:, m-1, i]
                end
            end
        end
    end
end

const W = (4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36)
const C = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))

function equilibrium(q, ρ, ux, uy)
    cx, cy = C[q]
    cu = 3(cx * ux + cy * uy)
    return W[q] * ρ * (1 + cu + cu^2 / 2 - 1.5(ux^2 + uy^2))
end

"Collision and streaming in one, D2Q9, periodic, populations first."
@tessella function d2q9_step!(fnew, f, ω)
    _, nx, ny = size(f)
    for y in 1:ny, x in 1:nx
        ρ = 0.0
        jx = 0.0
        jy = 0.0
        for q in 1:9
            ρ += f[q, x, y]
            jx += C[q][1] * f[q, x, y]
            jy += C[q][2] * f[q, x, y]
        end
        ux, uy = jx / ρ, jy / ρ
        for q in 1:9
            xn = mod1(x + C[q][1], nx)
            yn = mod1(y + C[q][2], ny)
            fnew[q, xn, yn] = f[q, x, y] - ω * (f[q, x, y] - equilibrium(q, ρ, ux, uy))
        end
    end
end

"Sound in a tube: fluxes as named tuples."
acoustic(p, v; c = 1.5) = (mass = c^2 * v, momentum = p)

@tessella function acoustics!(p, v, dt, dx, steps)
    n = length(p)
    fm = zeros(n + 1)
    fp = zeros(n + 1)
    c = 1.5
    for _ in 1:steps
        for i in 2:n
            L = acoustic(p[i-1], v[i-1])
            R = acoustic(p[i], v[i])
            fm[i] = (L.mass + R.mass) / 2 - c / 2 * (p[i] - p[i-1])
            fp[i] = (L.momentum + R.momentum) / 2 - c / 2 * (v[i] - v[i-1])
        end
        for i in 2:n-1
            p[i] -= dt / dx * (fm[i+1] - fm[i])
            v[i] -= dt / dx * (fp[i+1] - fp[i])
        end
    end
end

"Vorticity and streamfunction: Jacobi's iteration, then a step of Arakawa's Jacobian."
@tessella function vorticity_step!(ω, ψ, dt, h, iterations::Integer)
    n = size(ω, 1)
    ψnew = copy(ψ)
    for it in 1:iterations
        for j in 2:n-1, i in 2:n-1
            ψnew[i, j] = (ψ[i+1, j] + ψ[i-1, j] + ψ[i, j+1] + ψ[i, j-1] + h^2 * ω[i, j]) / 4
        end
        ψ, ψnew = ψnew, ψ
    end
    ωnew = copy(ω)
    for j in 2:n-1, i in 2:n-1
        J1 = (ω[i+1, j] - ω[i-1, j]) * (ψ[i, j+1] - ψ[i, j-1]) - (ω[i, j+1] - ω[i, j-1]) * (ψ[i+1, j] - ψ[i-1, j])
        J2 = ω[i+1, j] * (ψ[i+1, j+1] - ψ[i+1, j-1]) - ω[i-1, j] * (ψ[i-1, j+1] - ψ[i-1, j-1])
        ωnew[i, j] = ω[i, j] + dt * (J1 + J2) / (8h^2)
    end
    ω .= ωnew
    return maximum(abs, ω)
end

"The largest stable step: an extremum over both components."
@tessella function cfl(u, ν)
    s = 0.0
    for I in CartesianIndices(size(u)[1:2])
        w = zero(eltype(u))
        for d in 1:2
            w += abs(u[I, d])
        end
        s = max(s, w)
    end
    return 1 / (s + 5ν)
end

"Roe's average and a Harten-Hyman fix for shallow water along a line; primitive variables by a named tuple."
prim(h, hu) = (h = h, u = hu / h, c = sqrt(9.81 * h))

@tessella function roe!(dh, dhu, h, hu)
    n = length(h)
    for i in 1:n-1
        l, r = prim(h[i], hu[i]), prim(h[i+1], hu[i+1])
        û = (sqrt(l.h) * l.u + sqrt(r.h) * r.u) / (sqrt(l.h) + sqrt(r.h))
        ĉ = sqrt(9.81 * (l.h + r.h) / 2)
        λ = (û - ĉ, û + ĉ)
        α2 = ((hu[i+1] - hu[i]) - λ[1] * (r.h - l.h)) / (2ĉ)
        α1 = (r.h - l.h) - α2
        f1 = (hu[i] + hu[i+1] - abs(λ[1]) * α1 - abs(λ[2]) * α2) / 2
        f2 = (hu[i] * l.u + 0.5 * 9.81 * l.h^2 + hu[i+1] * r.u + 0.5 * 9.81 * r.h^2 -
              abs(λ[1]) * α1 * λ[1] - abs(λ[2]) * α2 * λ[2]) / 2
        dh[i] -= f1; dh[i+1] += f1
        dhu[i] -= f2; dhu[i+1] += f2
    end
end

program(conv_diff!, (T, n) -> (values_of(T, n, n + 1, 2), values_of(T, n, n + 1, 2)); types = [Float32, Float64])
program(divergence!, (T, n) -> (zeros(T, n, n + 1), values_of(T, n, n + 1, 2)))
program(scalar_flux!, (T, n) -> (zeros(T, n), positive_of(T, n), values_of(T, n)); types = [Float32, Float64])
program(bc!, (T, n) -> (values_of(T, n, n, 2), T[1, -2]); sizes = [2, 3, 7])
program(d2q9_step!, (T, n) -> (zeros(T, 9, n, n + 1), positive_of(T, 9, n, n + 1), 0.75); sizes = [1, 2, 5], slow = true)
program(acoustics!, (T, n) -> (positive_of(T, n), values_of(T, n), 0.25, 1.0, 3))
program(vorticity_step!, (T, n) -> (values_of(T, n, n), values_of(T, n, n), 0.125, 0.5, n))
program(cfl, (T, n) -> (values_of(T, n, n + 1, 2), 0.01))
program(roe!, (T, n) -> (zeros(T, n), zeros(T, n), positive_of(T, n), values_of(T, n)))

end
