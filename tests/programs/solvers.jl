"""
Linear solvers: tridiagonal, ADI, conjugate gradients with a stencil, Jacobi, Gauss-Seidel, red-black SOR, pieces of a V-cycle.
"""
module Solvers

using Tessella
using LinearAlgebra: I
using ..Programs: program, values_of, positive_of

"""
    thomas!(x, a, b, c, d)

Solves the tridiagonal system with lower diagonal `a`, diagonal `b`, upper diagonal `c`; `d` is overwritten.
"""
@tessella function thomas!(x, a, b, c, d)
    n = length(d)
    n == 0 && return x
    cp = similar(c)
    cp[1] = c[1] / b[1]
    d[1] = d[1] / b[1]
    for i in 2:n
        w = b[i] - a[i] * cp[i-1]
        cp[i] = c[i] / w
        d[i] = (d[i] - a[i] * d[i-1]) / w
    end
    x[n] = d[n]
    for i in n-1:-1:1
        x[i] = d[i] - cp[i] * x[i+1]
    end
    return x
end

"One step of Peaceman-Rachford for the heat equation, with zeros at the boundary."
@tessella function adi_step!(u, λ)
    m, n = size(u)
    v = zeros(eltype(u), m, n)
    p, q = zeros(eltype(u), m), zeros(eltype(u), m)
    for j in 2:n-1
        p[1] = 0.0
        q[1] = u[1, j]
        for i in 2:m-1
            rhs = λ * u[i, j-1] + (1 - 2λ) * u[i, j] + λ * u[i, j+1]
            den = 1 + 2λ - λ * p[i-1]
            p[i] = λ / den
            q[i] = (rhs + λ * q[i-1]) / den
        end
        for i in m-1:-1:2
            v[i, j] = p[i] * v[i+1, j] + q[i]
        end
    end
    p, q = zeros(eltype(u), n), zeros(eltype(u), n)
    for i in 2:m-1
        p[1] = 0.0
        q[1] = v[i, 1]
        for j in 2:n-1
            rhs = λ * v[i-1, j] + (1 - 2λ) * v[i, j] + λ * v[i+1, j]
            den = 1 + 2λ - λ * p[j-1]
            p[j] = λ / den
            q[j] = (rhs + λ * q[j-1]) / den
        end
        for j in n-1:-1:2
            u[i, j] = p[j] * u[i, j+1] + q[j]
        end
    end
    return nothing
end

"Minus the Laplacian with zeros outside."
function laplace!(y, x)
    m, n = size(x)
    for j in 1:n, i in 1:m
        s = 4 * x[i, j]
        i > 1 && (s -= x[i-1, j])
        i < m && (s -= x[i+1, j])
        j > 1 && (s -= x[i, j-1])
        j < n && (s -= x[i, j+1])
        y[i, j] = s
    end
    return y
end

function inner(a, b)
    s = zero(eltype(a))
    for k in eachindex(a)
        s += a[k] * b[k]
    end
    return s
end

"Conjugate gradients, a fixed number of steps; gives the square of the residual's norm."
@tessella function conjugate_gradient!(x, b; maxiter = 5, tol = 1e-12)
    r = similar(b)
    laplace!(r, x)
    r .= b .- r
    p = copy(r)
    Ap = similar(p)
    ρ = inner(r, r)
    for k in 1:maxiter
        laplace!(Ap, p)
        α = ρ / max(inner(p, Ap), tol)
        x .+= α .* p
        r .-= α .* Ap
        ρnew = inner(r, r)
        β = ρnew / max(ρ, tol)
        ρ = ρnew
        p .= r .+ β .* p
    end
    return ρ
end

@tessella function jacobi!(u, f, h, iterations)
    unew = copy(u)
    for it in 1:iterations
        @views unew[2:end-1, 2:end-1] .= (u[1:end-2, 2:end-1] .+ u[3:end, 2:end-1] .+ u[2:end-1, 1:end-2] .+ u[2:end-1, 3:end] .+ h^2 .* f[2:end-1, 2:end-1]) ./ 4
        u .= unew
    end
    return u
end

"Red and black Gauss-Seidel with over-relaxation."
@tessella function sor!(u, f; h = 0.1, ω = 1.5, sweeps = 2)
    m, n = size(u)
    for sweep in 1:sweeps, colour in 0:1
        for j in 2:n-1
            start = 2 + (j + colour) % 2
            for i in start:2:m-1
                gs = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] + h^2 * f[i, j]) / 4
                u[i, j] = (1 - ω) * u[i, j] + ω * gs
            end
        end
    end
end

@tessella function gauss_seidel!(x, A, b; iterations::Integer = 3)
    n = length(b)
    for _ in 1:iterations
        for i in 1:n
            σ = 0.0
            for j in 1:n
                j ≠ i && (σ += A[i, j] * x[j])
            end
            x[i] = (b[i] - σ) / A[i, i]
        end
    end
    x
end

"The largest residual of -Δu = f, which is kept in `r`."
@tessella function residual!(r, u, f, h)
    m, n = size(u)
    worst = zero(eltype(u))
    for j in 2:n-1, i in 2:m-1
        r[i, j] = f[i, j] - (4u[i, j] - u[i-1, j] - u[i+1, j] - u[i, j-1] - u[i, j+1]) / h^2
        worst = max(worst, abs(r[i, j]))
    end
    return worst
end

"Full weighting to the coarse grid: fine sizes are `2n - 1`."
@tessella function restrict!(coarse, fine)
    for J in 2:size(coarse, 2)-1, I in 2:size(coarse, 1)-1
        i, j = 2I - 1, 2J - 1
        coarse[I, J] = 0.25 * fine[i, j] +
            0.125 * (fine[i-1, j] + fine[i+1, j] + fine[i, j-1] + fine[i, j+1]) +
            0.0625 * (fine[i-1, j-1] + fine[i+1, j-1] + fine[i-1, j+1] + fine[i+1, j+1])
    end
    return coarse
end

"Bilinear interpolation, added to the fine grid."
@tessella function prolong!(fine, coarse)
    m, n = size(coarse)
    for J in 1:n, I in 1:m
        fine[2I-1, 2J-1] += coarse[I, J]
    end
    for J in 1:n, I in 1:m-1
        fine[2I, 2J-1] += (coarse[I, J] + coarse[I+1, J]) / 2
    end
    for J in 1:n-1, I in 1:m
        fine[2I-1, 2J] += (coarse[I, J] + coarse[I, J+1]) / 2
    end
    for J in 1:n-1, I in 1:m-1
        fine[2I, 2J] += (coarse[I, J] + coarse[I+1, J] + coarse[I, J+1] + coarse[I+1, J+1]) / 4
    end
end

"A cycle of two grids."
@tessella function two_grid!(u, f, r, rc, ec; h = 0.1, ω = 0.8)
    m, n = size(u)
    for sweep in 1:2
        for j in 2:n-1, i in 2:m-1
            r[i, j] = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] + h^2 * f[i, j]) / 4
        end
        for j in 2:n-1, i in 2:m-1
            u[i, j] += ω * (r[i, j] - u[i, j])
        end
    end
    for j in 2:n-1, i in 2:m-1
        r[i, j] = f[i, j] - (4u[i, j] - u[i-1, j] - u[i+1, j] - u[i, j-1] - u[i, j+1]) / h^2
    end
    mc, nc = size(rc)
    for J in 2:nc-1, I in 2:mc-1
        rc[I, J] = (r[2I-1, 2J-1] * 2 + r[2I-2, 2J-1] + r[2I, 2J-1] + r[2I-1, 2J-2] + r[2I-1, 2J]) / 6
    end
    fill!(ec, 0)
    for sweep in 1:4, J in 2:nc-1, I in 2:mc-1
        ec[I, J] = (ec[I-1, J] + ec[I+1, J] + ec[I, J-1] + ec[I, J+1] + 4h^2 * rc[I, J]) / 4
    end
    for J in 2:nc-1, I in 2:mc-1
        u[2I-1, 2J-1] += ec[I, J]
    end
    return nothing
end

program(thomas!, (T, n) -> (zeros(T, n), values_of(T, n), 4 .+ values_of(T, n), values_of(T, n), positive_of(T, n)); types = [Float32, Float64])
program(adi_step!, (T, n) -> (values_of(T, n, n + 2), T(0.3)))
program(conjugate_gradient!, (T, n) -> (zeros(T, n, n), values_of(T, n, n)); slow = true)
program(jacobi!, (T, n) -> (values_of(T, n, n), positive_of(T, n, n), T(0.1), 3); sizes = [2, 3, 13])
program(sor!, (T, n) -> (values_of(T, n, n), positive_of(T, n, n)))
program(gauss_seidel!, (T, n) -> (zeros(T, n), values_of(T, n, n) + 8I, positive_of(T, n)))
program(residual!, (T, n) -> (zeros(T, n, n), values_of(T, n, n), positive_of(T, n, n), T(0.1)); types = [Float32, Float64])
program(restrict!, (T, n) -> (zeros(T, n, n), values_of(T, max(2n - 1, 0), max(2n - 1, 0))))
program(prolong!, (T, n) -> (zeros(T, max(2n - 1, 0), max(2n - 1, 0)), values_of(T, n, n)))
program(two_grid!, (T, n) -> (zeros(T, 2n + 1, 2n + 1), values_of(T, 2n + 1, 2n + 1), zeros(T, 2n + 1, 2n + 1), zeros(T, n + 1, n + 1), ones(T, n + 1, n + 1)); slow = true)

end
