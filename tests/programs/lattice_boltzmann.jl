"""
Lattice Boltzmann, D2Q9: collision, streaming with periodic and bounce-back boundaries, moments.
"""
module LatticeBoltzmann

using Tessella
using ..Programs: program, values_of, positive_of

const Q = 9
const W = (4/9, 1/9, 1/9, 1/9, 1/9, 1/36, 1/36, 1/36, 1/36)
const CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
const CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)
const OPPOSITE = (1, 4, 5, 2, 3, 8, 9, 6, 7)

"Second-order equilibrium of one direction."
@inline function equilibrium(w, cu, ρ, usq)
    return w * ρ * (1 + 3cu + 4.5cu^2 - 1.5usq)
end

@tessella function moments!(ρ, ux, uy, f)
    nx, ny, _ = size(f)
    for j in 1:ny, i in 1:nx
        r = 0.0; mx = 0.0; my = 0.0
        for q in 1:Q
            r += f[i, j, q]
            mx += f[i, j, q] * CX[q]
            my += f[i, j, q] * CY[q]
        end
        ρ[i, j] = r
        ux[i, j] = mx / r
        uy[i, j] = my / r
    end
end

@tessella function collide!(f, ρ, ux, uy; τ = 0.6)
    ω = 1 / τ
    @inbounds for q in 1:Q, j in axes(f, 2), i in axes(f, 1)
        u, v = ux[i, j], uy[i, j]
        feq = equilibrium(W[q], CX[q] * u + CY[q] * v, ρ[i, j], u^2 + v^2)
        f[i, j, q] -= ω * (f[i, j, q] - feq)
    end
    return f
end

@tessella function stream!(g, f)
    nx, ny = size(f, 1), size(f, 2)
    for q in 1:9
        for j in 1:ny, i in 1:nx
            g[mod1(i + CX[q], nx), mod1(j + CY[q], ny), q] = f[i, j, q]
        end
    end
end

"Streaming as a pull, with solid cells that send back what comes."
@tessella function pull!(g, f, solid)
    nx, ny = size(f)
    for q in 1:Q, j in 1:ny, i in 1:nx
        if solid[i, j]
            g[i, j, q] = f[i, j, q]
        else
            ip = i - CX[q] < 1 ? nx : (i - CX[q] > nx ? 1 : i - CX[q])
            jp = clamp(j - CY[q], 1, ny)
            g[i, j, q] = solid[ip, jp] ? f[i, j, OPPOSITE[q]] : f[ip, jp, q]
        end
    end
end

"A whole step, written direction by direction as in textbooks."
@tessella function lbm_step!(g, f; τ = 0.8, force = 1e-4)
    nx, ny = size(f, 1), size(f, 2)
    for j in 1:ny, i in 1:nx
        f0 = f[i, j, 1]
        f1, f2, f3, f4 = f[i, j, 2], f[i, j, 3], f[i, j, 4], f[i, j, 5]
        f5, f6, f7, f8 = f[i, j, 6], f[i, j, 7], f[i, j, 8], f[i, j, 9]
        ρ = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
        u = (f1 + f5 + f8 - f3 - f6 - f7) / ρ + force * τ
        v = (f2 + f5 + f6 - f4 - f7 - f8) / ρ
        usq = u * u + v * v
        east = i < nx ? i + 1 : 1
        west = i > 1 ? i - 1 : nx
        north = j < ny ? j + 1 : 1
        south = j > 1 ? j - 1 : ny
        g[i, j, 1] = f0 - (f0 - equilibrium(4/9, 0.0, ρ, usq)) / τ
        g[east, j, 2] = f1 - (f1 - equilibrium(1/9, u, ρ, usq)) / τ
        g[i, north, 3] = f2 - (f2 - equilibrium(1/9, v, ρ, usq)) / τ
        g[west, j, 4] = f3 - (f3 - equilibrium(1/9, -u, ρ, usq)) / τ
        g[i, south, 5] = f4 - (f4 - equilibrium(1/9, -v, ρ, usq)) / τ
        g[east, north, 6] = f5 - (f5 - equilibrium(1/36, u + v, ρ, usq)) / τ
        g[west, north, 7] = f6 - (f6 - equilibrium(1/36, v - u, ρ, usq)) / τ
        g[west, south, 8] = f7 - (f7 - equilibrium(1/36, -u - v, ρ, usq)) / τ
        g[east, south, 9] = f8 - (f8 - equilibrium(1/36, u - v, ρ, usq)) / τ
    end
    return nothing
end

cells(T, n) = positive_of(T, n, n + 1, 9)
plane(T, n) = values_of(T, n, n + 1) ./ 8

program(moments!, (T, n) -> (zeros(T, n, n + 1), zeros(T, n, n + 1), zeros(T, n, n + 1), cells(T, n)); slow = true)
program(collide!, (T, n) -> (cells(T, n), positive_of(T, n, n + 1), plane(T, n), plane(T, n)); types = [Float32, Float64], slow = true)
program(stream!, (T, n) -> (zeros(T, n, n + 1, 9), cells(T, n)); slow = true)
program(pull!, (T, n) -> (zeros(T, n, n + 1, 9), cells(T, n), Bool[(i * j) % 5 == 0 for i in 1:n, j in 1:n+1]); slow = true)
program(lbm_step!, (T, n) -> (zeros(T, n, n + 1, 9), cells(T, n)); slow = true)

end
