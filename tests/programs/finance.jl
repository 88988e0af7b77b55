"""
Options: binomial trees, explicit and implicit finite differences, Monte Carlo paths from given normals, yield curves.
"""
module Finance

using Tessella
using ..Programs: program, values_of, positive_of

const DAYS = 252

payoff_call(S, K) = max(S - K, zero(S))
payoff_put(S, K) = max(K - S, zero(S))

"Polynomial of Abramowitz and Stegun for the normal distribution, `pdf` being the density at `x`."
function normal_tail(x, pdf)
    k = 1 / (1 + 0.2316419abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = pdf * poly
    return x >= 0 ? 1 - tail : tail
end

"Cox-Ross-Rubinstein, with early exercise."
@tessella function american_put(S0, K, u, disc, p; steps::Int = 8)
    d = 1 / u
    v = zeros(steps + 1)
    for i in 0:steps
        v[i+1] = payoff_put(S0 * u^(2.0 * i - steps), K)
    end
    for t in steps-1:-1:0
        for i in 0:t
            hold = disc * (p * v[i+2] + (1 - p) * v[i+1])
            v[i+1] = max(hold, 0.0)
        end
    end
    return v[1]
end

"A tree over given prices at the leaves."
@tessella function binomial!(V, prices, K; p = 0.52, disc = 0.999)
    n = length(prices) - 1
    for i in eachindex(prices)
        V[i] = payoff_call(prices[i], K)
    end
    for step in n:-1:1, i in 1:step
        V[i] = disc * (p * V[i+1] + (1 - p) * V[i])
    end
    return nothing
end

"Explicit scheme for Black and Scholes on a grid of prices."
@tessella function explicit_fd!(V, ΔS, Δt, r, σ; steps = 3)
    M = length(V)
    W = similar(V)
    for n in 1:steps
        for i in 2:M-1
            S = (i - 1) * ΔS
            Δ = (V[i+1] - V[i-1]) / (2ΔS)
            Γ = (V[i+1] - 2V[i] + V[i-1]) / ΔS^2
            W[i] = V[i] + Δt * (0.5 * σ^2 * S^2 * Γ + r * S * Δ - r * V[i])
        end
        W[1] = V[1] * (1 - r * Δt)
        W[M] = 2W[M-1] - W[M-2]
        copyto!(V, W)
    end
    V
end

"Asian option: the mean over each path, payoffs averaged."
@tessella function asian(Z::Matrix{T}, S0, K, r, σ, Δt) where {T<:AbstractFloat}
    steps, paths = size(Z)
    total = zero(T)
    for p in 1:paths
        S = T(S0)
        mean = zero(T)
        for t in 1:steps
            S *= 1 + r * Δt + σ * sqrt(Δt) * Z[t, p]
            mean += S
        end
        mean /= steps
        total += payoff_call(mean, K)
    end
    return total / paths
end

@tessella function black_scholes!(call, put, S, K, d1, d2, n1, n2, discount)
    for i in eachindex(S)
        Φ1 = normal_tail(d1[i], n1[i])
        Φ2 = normal_tail(d2[i], n2[i])
        call[i] = S[i] * Φ1 - K[i] * discount * Φ2
        put[i] = call[i] - S[i] + K[i] * discount
    end
    return call, put
end

"Correlated walks from a lower triangular factor."
@tessella function correlate!(X, L, Z)
    d, n = size(Z)
    for k in 1:n, i in 1:d
        X[i, k] = sum(L[i, j] * Z[j, k] for j in 1:i)
    end
end

"Value of an annuity and duration of a bond, from a curve of discount factors."
@tessella function bond(curve, coupon; face = 100.0)
    n = length(curve)
    price = 0.0
    weighted = 0.0
    for (t, df) in enumerate(curve)
        cash = t == n ? coupon + face : coupon
        price += cash * df
        weighted += t * cash * df
    end
    n == 0 && return 0.0, 0.0
    return price, weighted / price
end

"Exponentially weighted volatility, and the largest draw-down."
@tessella function risk!(vol, prices; λ = 0.94)
    n = length(prices)
    variance = zero(eltype(prices))
    peak = -Inf
    drawdown = 0.0
    for i in 1:n
        if i > 1
            ret = prices[i] / prices[i-1] - 1
            variance = λ * variance + (1 - λ) * ret^2
        end
        vol[i] = sqrt(DAYS * variance)
        peak = max(peak, prices[i])
        drawdown = max(drawdown, (peak - prices[i]) / peak)
    end
    return drawdown
end

program(american_put, (T, n) -> (T(100), T(95), T(1.01), T(0.999), T(0.51)); sizes = [1])
program(binomial!, (T, n) -> (zeros(T, n), 100 .* positive_of(T, n), T(95)))
program(explicit_fd!, (T, n) -> (positive_of(T, n), T(0.5), T(0.001), T(0.03), T(0.2)); sizes = [3, 5, 13])
program(asian, (T, n) -> (values_of(T, n + 1, 2n), T(100), T(99), T(0.03), T(0.2), T(0.01)); types = [Float32, Float64])
program(black_scholes!, (T, n) -> (zeros(T, n), zeros(T, n), positive_of(T, n), positive_of(T, n), values_of(T, n), values_of(T, n), positive_of(T, n), positive_of(T, n), T(0.97)))
program(correlate!, (T, n) -> (zeros(T, 4, n), values_of(T, 4, 4), values_of(T, 4, n)))
program(bond, (T, n) -> (positive_of(T, n), T(5)))
program(risk!, (T, n) -> (zeros(T, n), positive_of(T, n)))

end
