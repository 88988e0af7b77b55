# Charges of particles go to the four points of a grid around each: the warp that a point belongs to adds them up in the particles' order.
#! sizes rho=n,m x=particles y=particles q=particles
#! run n=4 m=3 particles=1
#! run n=7 m=6 particles=300
@tessella function deposited!(rho::Matrix{Float64}, x::Vector{Float64}, y::Vector{Float64}, q::Vector{Float64})
    n, m = size(rho)
    for p in eachindex(x, y, q)
        i = clamp(unsafe_trunc(Int, x[p]), 1, n - 1)
        j = clamp(unsafe_trunc(Int, y[p]), 1, m - 1)
        s, t = x[p] - i, y[p] - j
        rho[i, j] += q[p] * (1 - s) * (1 - t)
        rho[i + 1, j] += q[p] * s * (1 - t)
        rho[i, j + 1] += q[p] * (1 - s) * t
        rho[i + 1, j + 1] += q[p] * s * t
    end
end
