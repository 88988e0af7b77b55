"""
Finite volumes: advection with limiters, Burgers, Euler with HLL, upwind in two dimensions, Runge-Kutta, WENO.
"""
module Advection

using Tessella
using ..Programs: program, values_of, positive_of

const GAMMA = 1.4
const EPS = 1e-6

minmod(a, b) = a * b <= 0 ? zero(a) : (abs(a) < abs(b) ? a : b)
van_leer(r) = (r + abs(r)) / (1 + abs(r))
superbee(a, b) = sign(a) * max(0, min(2abs(a), sign(a) * b), min(abs(a), 2 * sign(a) * b))

"The limiter is chosen by a number."
function slope(a, b, kind)
    if kind == 1
        return minmod(a, b)
    elseif kind == 2
        return superbee(a, b)
    end
    return (a + b) / 2
end

"MUSCL-Hancock for linear advection, periodic."
@tessella function muscl!(unew, u, c::Real; kind = 1)
    n = length(u)
    σ = similar(u)
    for i in 1:n
        left = u[mod1(i - 1, n)]
        right = u[mod1(i + 1, n)]
        σ[i] = slope(u[i] - left, right - u[i], kind)
    end
    for i in 1:n
        im = i == 1 ? n : i - 1
        fl = u[im] + 0.5 * (1 - c) * σ[im]
        fr = u[i] + 0.5 * (1 - c) * σ[i]
        unew[i] = u[i] - c * (fr - fl)
    end
    return unew
end

"Godunov's flux for Burgers' equation."
function burgers_flux(ul, ur)
    if ul > ur
        s = (ul + ur) / 2
        return s > 0 ? ul^2 / 2 : ur^2 / 2
    end
    ul > 0 && return ul^2 / 2
    ur < 0 && return ur^2 / 2
    return zero(ul)
end

@tessella function burgers!(u, λ, nsteps)
    n = length(u)
    flux = zeros(eltype(u), n + 1)
    for step in 1:nsteps
        for i in 2:n
            flux[i] = burgers_flux(u[i-1], u[i])
        end
        if n > 0
            flux[1] = burgers_flux(u[1], u[1])
            flux[n+1] = burgers_flux(u[n], u[n])
        end
        for i in 1:n
            u[i] -= λ * (flux[i+1] - flux[i])
        end
    end
    return u
end

pressure(ρ, m, E) = (GAMMA - 1) * (E - m^2 / (2ρ))

function euler_flux(ρ, m, E)
    p = pressure(ρ, m, E)
    u = m / ρ
    return (m, m * u + p, (E + p) * u)
end

"Euler equations in one dimension, the conserved variables as rows, HLL fluxes."
@tessella function euler_hll!(U, F, dtdx)
    n = size(U, 2)
    @inbounds for i in 1:n-1
        ρl, ml, El = U[1, i], U[2, i], U[3, i]
        ρr, mr, Er = U[1, i+1], U[2, i+1], U[3, i+1]
        cl = sqrt(abs(GAMMA * pressure(ρl, ml, El) / ρl))
        cr = sqrt(abs(GAMMA * pressure(ρr, mr, Er) / ρr))
        sl = min(ml / ρl - cl, mr / ρr - cr)
        sr = max(ml / ρl + cl, mr / ρr + cr)
        fl = euler_flux(ρl, ml, El)
        fr = euler_flux(ρr, mr, Er)
        if sl >= 0
            F[1, i], F[2, i], F[3, i] = fl
        elseif sr <= 0
            F[1, i], F[2, i], F[3, i] = fr
        else
            F[1, i] = (sr * fl[1] - sl * fr[1] + sl * sr * (ρr - ρl)) / (sr - sl)
            F[2, i] = (sr * fl[2] - sl * fr[2] + sl * sr * (mr - ml)) / (sr - sl)
            F[3, i] = (sr * fl[3] - sl * fr[3] + sl * sr * (Er - El)) / (sr - sl)
        end
    end
    for i in 2:n-1, k in 1:3
        U[k, i] -= dtdx * (F[k, i] - F[k, i-1])
    end
    return nothing
end

"Donor cell in two dimensions with a given velocity, open boundaries."
@tessella function donor_cell!(q, qn, u, v; dt = 0.1, dx = 1.0, dy = 1.0)
    m, n = size(q)
    for j in 1:n, i in 1:m
        fx_in = i > 1 ? (u[i, j] > 0 ? u[i, j] * q[i-1, j] : u[i, j] * q[i, j]) : 0.0
        fx_out = i < m ? (u[i+1, j] > 0 ? u[i+1, j] * q[i, j] : u[i+1, j] * q[i+1, j]) : 0.0
        fy_in = j > 1 ? max(v[i, j], 0) * q[i, j-1] + min(v[i, j], 0) * q[i, j] : 0.0
        fy_out = j < n ? max(v[i, j+1], 0) * q[i, j] + min(v[i, j+1], 0) * q[i, j+1] : 0.0
        qn[i, j] = q[i, j] - dt / dx * (fx_out - fx_in) - dt / dy * (fy_out - fy_in)
    end
    q .= qn
    return q
end

function weno5(a, b, c, d, e)
    β1 = 13/12 * (a - 2b + c)^2 + 1/4 * (a - 4b + 3c)^2
    β2 = 13/12 * (b - 2c + d)^2 + 1/4 * (b - d)^2
    β3 = 13/12 * (c - 2d + e)^2 + 1/4 * (3c - 4d + e)^2
    w1, w2, w3 = 0.1 / (EPS + β1)^2, 0.6 / (EPS + β2)^2, 0.3 / (EPS + β3)^2
    q1 = (2a - 7b + 11c) / 6
    q2 = (-b + 5c + 2d) / 6
    q3 = (2c + 5d - e) / 6
    return (w1 * q1 + w2 * q2 + w3 * q3) / (w1 + w2 + w3)
end

function weno_rhs!(du, u, dx)
    n = length(u)
    for i in 4:n-3
        fr = weno5(u[i-2], u[i-1], u[i], u[i+1], u[i+2])
        fl = weno5(u[i-3], u[i-2], u[i-1], u[i], u[i+1])
        du[i] = -(fr - fl) / dx
    end
    return du
end

"Three stages of Shu and Osher."
@tessella function ssp_rk3!(u, dt, dx, steps)
    du = zero(u)
    u1 = copy(u)
    u2 = copy(u)
    for _ = 1:steps
        weno_rhs!(du, u, dx)
        @. u1 = u + dt * du
        weno_rhs!(du, u1, dx)
        @. u2 = 3 / 4 * u + 1 / 4 * (u1 + dt * du)
        weno_rhs!(du, u2, dx)
        @. u = 1 / 3 * u + 2 / 3 * (u2 + dt * du)
    end
    return u
end

"Total variation and mass."
@tessella function variation(u)
    tv = 0.0
    for i in firstindex(u):lastindex(u)-1
        tv += abs(u[i+1] - u[i])
    end
    return tv, sum(x for x in u)
end

program(muscl!, (T, n) -> (zeros(T, n), values_of(T, n), T(0.4)); types = [Float32, Float64], slow = true)
program(burgers!, (T, n) -> (values_of(T, n), T(0.3), 3); types = [Float32, Float64])
program(euler_hll!, (T, n) -> (positive_of(T, 3, n) .+ T[0, 0, 2], zeros(T, 3, n), T(0.1)))
program(donor_cell!, (T, n) -> (positive_of(T, n, n), zeros(T, n, n), values_of(T, n + 1, n), values_of(T, n, n + 1)))
program(ssp_rk3!, (T, n) -> (values_of(T, n), T(0.01), T(0.1), 2))
program(variation, (T, n) -> (values_of(T, n),))

end
