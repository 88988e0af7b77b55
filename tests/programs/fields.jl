"""
Fields on grids: vector calculus, FDTD, reaction and diffusion, waves with absorbing layers, phase fields, Poisson in spheres.
"""
module Fields

using Tessella
using ..Programs: program, values_of, positive_of

@tessella function curl!(cx, cy, cz, fx, fy, fz, h)
    nx, ny, nz = size(fx)
    inv2h = inv(2h)
    for k in 2:nz-1, j in 2:ny-1, i in 2:nx-1
        cx[i, j, k] = (fz[i, j+1, k] - fz[i, j-1, k] - fy[i, j, k+1] + fy[i, j, k-1]) * inv2h
        cy[i, j, k] = (fx[i, j, k+1] - fx[i, j, k-1] - fz[i+1, j, k] + fz[i-1, j, k]) * inv2h
        cz[i, j, k] = (fy[i+1, j, k] - fy[i-1, j, k] - fx[i, j+1, k] + fx[i, j-1, k]) * inv2h
    end
end

"Divergence with broadcasts over views."
@tessella function divergence!(d, u, v; dx = 0.5, dy = 0.25)
    @views d .= (u[2:end, :] .- u[1:end-1, :]) ./ dx .+ (v[:, 2:end] .- v[:, 1:end-1]) ./ dy
    return d
end

"Yee's scheme, TM mode."
@tessella function yee!(Ez, Hx, Hy, steps; c = 0.5)
    nx, ny = size(Ez)
    for t in 1:steps
        @. Hx[:, 1:ny-1] -= c * (Ez[:, 2:ny] - Ez[:, 1:ny-1])
        @. Hy[1:nx-1, :] += c * (Ez[2:nx, :] - Ez[1:nx-1, :])
        for j in 2:ny-1, i in 2:nx-1
            Ez[i, j] += c * (Hy[i, j] - Hy[i-1, j] - Hx[i, j] + Hx[i, j-1])
        end
        Ez[2, 2] += t / steps
    end
    return nothing
end

lap(A, i, j, h²) = (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1] - 4A[i, j]) / h²

"Gray and Scott's reaction, periodic by ghost cells."
@tessella function gray_scott!(u, v, un, vn; Du = 0.16, Dv = 0.08, F = 0.035, k = 0.065, dt = 1.0, steps = 2)
    m, n = size(u)
    for _ in 1:steps
        for j in 2:n-1, i in 2:m-1
            uvv = u[i, j] * v[i, j]^2
            un[i, j] = u[i, j] + dt * (Du * lap(u, i, j, 1.0) - uvv + F * (1 - u[i, j]))
            vn[i, j] = v[i, j] + dt * (Dv * lap(v, i, j, 1.0) + uvv - (F + k) * v[i, j])
        end
        for A in (un, vn)
            for i in 2:m-1
                A[i, 1] = A[i, n-1]
                A[i, n] = A[i, 2]
            end
            for j in 1:n
                A[1, j] = A[m-1, j]
                A[m, j] = A[2, j]
            end
        end
        u, un = un, u
        v, vn = vn, v
    end
    return nothing
end

"Waves with a sponge at the border, three levels of time."
@tessella function wave!(p_next, p, p_prev, speed, sponge; dt = 0.1, h = 1.0, steps = 3)
    m, n = size(p)
    r = (dt / h)^2
    for it in 1:steps
        for j in 2:n-1, i in 2:m-1
            d = sponge[min(i, m - i + 1, j, n - j + 1)]
            p_next[i, j] = d * (2p[i, j] - p_prev[i, j] + r * speed[i, j]^2 * (p[i-1, j] + p[i+1, j] + p[i, j-1] + p[i, j+1] - 4p[i, j]))
        end
        p_prev, p, p_next = p, p_next, p_prev
    end
end

"Allen and Cahn: a double well."
@tessella function allen_cahn!(φ, φ_new, ε, dt)
    for j in axes(φ, 2)[2:end-1], i in axes(φ, 1)[2:end-1]
        Δφ = φ[i-1, j] + φ[i+1, j] + φ[i, j-1] + φ[i, j+1] - 4φ[i, j]
        φ_new[i, j] = φ[i, j] + dt * (Δφ - (φ[i, j]^3 - φ[i, j]) / ε^2)
    end
    return φ_new
end

"Heat in a sphere: the radius in the coefficients."
@tessella function radial!(T, q, dr, dt, steps)
    n = length(T)
    Tn = copy(T)
    for s = 1:steps, i = 2:n-1
        r = (i - 1) * dr
        rp, rm = r + dr / 2, r - dr / 2
        Tn[i] = T[i] + dt * ((rp^2 * (T[i+1] - T[i]) - rm^2 * (T[i] - T[i-1])) / (r^2 * dr^2) + q[i])
        if i == n - 1
            for l in 2:n-1
                T[l] = Tn[l]
            end
        end
    end
    return T
end

"Strain and stress of plane elasticity at cell centres."
@tessella function stress!(σxx, σyy, σxy, ux, uy; E = 1.0, ν = 0.3, h = 1.0)
    c = E / (1 - ν^2)
    G = E / (2 * (1 + ν))
    for I in CartesianIndices(σxx)
        i, j = I[1], I[2]
        exx = (ux[i+1, j] - ux[i, j] + ux[i+1, j+1] - ux[i, j+1]) / 2h
        eyy = (uy[i, j+1] - uy[i, j] + uy[i+1, j+1] - uy[i+1, j]) / 2h
        exy = ((ux[i, j+1] - ux[i, j]) + (uy[i+1, j] - uy[i, j])) / 2h
        σxx[I] = c * (exx + ν * eyy)
        σyy[I] = c * (eyy + ν * exx)
        σxy[I] = 2G * exy
    end
    nothing
end

"Trapezoidal and Simpson's rule on samples."
@tessella function integrate(y, h)
    n = length(y)
    n < 2 && return zero(h), zero(h)
    trapezoid = h * ((y[1] + y[n]) / 2 + sum(y[i] for i in 2:n-1))
    simpson = y[1] + y[n]
    for i in 2:n-1
        simpson += iseven(i) ? 4y[i] : 2y[i]
    end
    return trapezoid, simpson * h / 3
end

"Gradient by central differences inside and one-sided ones at the ends."
@tessella function gradient!(g, f, h)
    n = length(f)
    if n < 2
        fill!(g, 0)
        return g
    end
    g[1] = (f[2] - f[1]) / h
    g[end] = (f[end] - f[end-1]) / h
    for i in 2:n-1
        g[i] = (f[i+1] - f[i-1]) / 2h
    end
    return g
end

"Linear interpolation in a table with equal steps."
@tessella function interpolate!(y, x, table, x0, dx)
    n = length(table)
    for i in eachindex(x)
        s = (x[i] - x0) / dx
        k = clamp(floor(Int, s) + 1, 1, n - 1)
        w = s - (k - 1)
        y[i] = (1 - w) * table[k] + w * table[k+1]
    end
    return y
end

"Differences of neighbours, and differences of these, in one nest."
@tessella function slopes!(G, D, A)
    m, n = size(A)
    for j in 2:n, i in 2:m
        G[i, j] = A[i, j] - A[i-1, j]
        D[i, j] = G[i, j] * A[i, j] - G[i-1, j] - G[i, j-1]
    end
end

"The divergence of a gradient, whose components are kept."
@tessella function laplacian!(D, U, V, P)
    m, n = size(P)
    for j in 2:n-1, i in 2:m-1
        U[i, j] = P[i+1, j] - P[i, j]
        V[i, j] = P[i, j+1] - P[i, j]
        D[i, j] = U[i, j] - U[i-1, j] + V[i, j] - V[i, j-1]
    end
end

"A wall whose layers follow one another, each with a factor of its own."
@tessella function layers!(A, s, x)
    m, n = size(A)
    for i in 2:m
        s[i] = x[i] * s[i-1]
        for j in 1:n
            A[i, j] = A[i-1, j] * x[i] + s[i-1]
        end
    end
end

cube(T, n) = values_of(T, n, n, n)

program(curl!, (T, n) -> (cube(T, n), cube(T, n), cube(T, n), cube(T, n), 2 .* cube(T, n), positive_of(T, n, n, n), T(0.5)); types = [Float32, Float64], slow = true)
program(divergence!, (T, n) -> (zeros(T, n, n), values_of(T, n + 1, n), values_of(T, n, n + 1)))
program(yee!, (T, n) -> (values_of(T, n, n + 1), values_of(T, n, n + 1), values_of(T, n, n + 1), 2); sizes = [2, 3, 13])
program(gray_scott!, (T, n) -> (positive_of(T, n, n), positive_of(T, n, n) ./ 2, zeros(T, n, n), zeros(T, n, n)); sizes = [2, 3, 13], slow = true)
program(wave!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), values_of(T, n, n), positive_of(T, n, n), positive_of(T, n)); slow = true)
program(allen_cahn!, (T, n) -> (values_of(T, n, n), zeros(T, n, n), T(0.5), T(0.01)))
program(radial!, (T, n) -> (positive_of(T, n), values_of(T, n), T(0.1), T(1e-4), 2))
program(stress!, (T, n) -> (zeros(T, n, n), zeros(T, n, n), zeros(T, n, n), values_of(T, n + 1, n + 1), positive_of(T, n + 1, n + 1)))
program(integrate, (T, n) -> (values_of(T, n), T(0.1)))
program(gradient!, (T, n) -> (zeros(T, n), values_of(T, n), T(0.1)); types = [Float32, Float64])
program(interpolate!, (T, n) -> (zeros(T, n), positive_of(T, n), values_of(T, 7), T(0.5), T(0.2)))
program(slopes!, (T, n) -> (values_of(T, n, n), zeros(T, n, n), values_of(T, n, n)); sizes = [0, 1, 2, 3, 13, 100])
program(laplacian!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), values_of(T, n, n), values_of(T, n, n)); sizes = [2, 3, 13, 100])
program(layers!, (T, n) -> (values_of(T, n, n), positive_of(T, n), values_of(T, n)); sizes = [1, 2, 13, 100])

end
