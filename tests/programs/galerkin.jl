"""
Discontinuous Galerkin on blocks of elements, as in spectral element codes: volume and surface integrals, fluxes, interpolation, shock indicators.
"""
module Galerkin

using Tessella
using ..Programs: program, values_of, positive_of

const GAMMA = 1.4

@inline function cons2prim(rho, rho_v1, rho_v2, rho_e)
    v1 = rho_v1 / rho
    v2 = rho_v2 / rho
    p = (GAMMA - 1) * (rho_e - 0.5 * (rho_v1 * v1 + rho_v2 * v2))
    return rho, v1, v2, p
end

@inline function flux1(u)
    rho, rho_v1, rho_v2, rho_e = u
    _, v1, _, p = cons2prim(rho, rho_v1, rho_v2, rho_e)
    return (rho_v1, rho_v1 * v1 + p, rho_v1 * rho_v2 / rho, (rho_e + p) * v1)
end

@inline get_node_vars(u, i, j, element) = ntuple(v -> u[v, i, j, element], 4)

"Weak form of the volume integral in the first direction."
@tessella function volume_integral!(du, u, D)
    @inbounds for element in axes(u, 4)
        for j in axes(u, 3), i in axes(u, 2)
            f = flux1(get_node_vars(u, i, j, element))
            for ii in axes(u, 2)
                for v in 1:4
                    du[v, ii, j, element] += D[ii, i] * f[v]
                end
            end
        end
    end
    return nothing
end

"Entropy-stable two-point flux in the advection of a scalar, both directions."
@tessella function split_form!(du, u, D_split; α = 1)
    nvars, n, _, nelements = size(u)
    for element in 1:nelements, j in 1:n, i in 1:n
        u_node = u[1, i, j, element]
        for ii in i+1:n
            u_ii = u[1, ii, j, element]
            flux = (u_node^2 + u_node * u_ii + u_ii^2) / 6
            du[1, i, j, element] += α * D_split[i, ii] * flux
            du[1, ii, j, element] += α * D_split[ii, i] * flux
        end
        for jj in (j+1):n
            u_jj = u[1, i, jj, element]
            flux = (u_node^2 + u_node * u_jj + u_jj^2) / 6
            du[1, i, j, element] += α * D_split[j, jj] * flux
            du[1, i, jj, element] += α * D_split[jj, j] * flux
        end
    end
end

"Values at the two ends of each element of a line, and the surface integral with a local Lax-Friedrichs flux, periodic."
@tessella function surface_terms!(du, u, weights)
    n, ne = size(u)
    flux = similar(u, ne + 1)
    f(x) = x^2 / 2
    for e in 1:ne+1
        left = e == 1 ? ne : e - 1
        right = e == ne + 1 ? 1 : e
        uL, uR = u[end, left], u[begin, right]
        λ = max(abs(uL), abs(uR))
        flux[e] = (f(uL) + f(uR)) / 2 - λ / 2 * (uR - uL)
    end
    for e in 1:ne
        du[1, e] += flux[e] / weights[1]
        du[n, e] -= flux[e+1] / weights[n]
    end
    return du
end

"Barycentric interpolation matrix between two sets of nodes."
@tessella function interpolation_matrix!(vdm, nodes_in, nodes_out, wbary)
    for k in eachindex(nodes_out)
        match = false
        for j in eachindex(nodes_in)
            if nodes_out[k] == nodes_in[j]
                match = true
                vdm[k, j] = 1
            else
                vdm[k, j] = 0
            end
        end
        if !match
            s = zero(eltype(vdm))
            for j in eachindex(nodes_in)
                t = wbary[j] / (nodes_out[k] - nodes_in[j])
                vdm[k, j] = t
                s += t
            end
            for j in eachindex(nodes_in)
                vdm[k, j] /= s
            end
        end
    end
    return vdm
end

@tessella function barycentric_weights(nodes)
    n = length(nodes)
    weights = ones(n)
    for j in 2:n, k in 1:(j-1)
        weights[k] *= nodes[k] - nodes[j]
        weights[j] *= nodes[j] - nodes[k]
    end
    for j in 1:n
        weights[j] = 1 / weights[j]
    end
    return weights
end

"Modal coefficients of each element, and Persson-Peraire's indicator."
@tessella function indicator!(alpha, u, inverse_vandermonde; alpha_max = 0.5, alpha_min = 0.001)
    n, ne = size(u)
    threshold = 0.5 * 10^(-1.8)
    modal = zeros(eltype(u), n)
    for e in 1:ne
        for i in 1:n
            acc = zero(eltype(u))
            for k in 1:n
                acc += inverse_vandermonde[i, k] * u[k, e]
            end
            modal[i] = acc
        end
        total = sum(x -> x^2, modal)
        clip1 = total - modal[n]^2
        energy = total == 0 ? total : (total - clip1) / total
        a = (energy - threshold) / threshold
        alpha[e] = a < alpha_min ? 0 : min(a, alpha_max)
    end
    # neighbours take half of it
    for e in 2:ne
        alpha[e] = max(alpha[e], alpha[e-1] / 2)
    end
    nothing
end

nodes(T, n) = T[-cospi((k - 1 // 2) / max(n, 1)) for k in 1:n]
euler_state(T, n) = (u = positive_of(T, 4, n, n, 2); u[4, :, :, :] .+= 4; u)

program(volume_integral!, (T, n) -> (zeros(T, 4, n, n, 2), euler_state(T, n), values_of(T, n, n)); sizes = [0, 1, 3, 5], slow = true)
program(split_form!, (T, n) -> (zeros(T, 1, n, n, 3), values_of(T, 1, n, n, 3), values_of(T, n, n)); types = [Float32, Float64], sizes = [0, 1, 2, 5], slow = true)
program(surface_terms!, (T, n) -> (values_of(T, max(n, 2), n), values_of(T, max(n, 2), n), positive_of(T, max(n, 2))))
program(interpolation_matrix!, (T, n) -> (zeros(T, 4, n), nodes(T, n), T[-1, 0, 0.25, 1], positive_of(T, n)); slow = true)
program(barycentric_weights, (T, n) -> (nodes(T, n),))
program(indicator!, (T, n) -> (zeros(T, 4), values_of(T, n + 1, 4), values_of(T, n + 1, n + 1)))

end
