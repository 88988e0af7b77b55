"""
Dynamic programs: Smith-Waterman, longest common subsequence, shortest paths, knapsack, Viterbi, matrix chains.
"""
module Sequences

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

score(a, b; match = 3, mismatch = -3) = a == b ? match : mismatch

@tessella function smith_waterman!(H, a, b; gap = 2)
    m, n = length(a), length(b)
    best = 0
    H[:, 1] .= 0
    H[1, :] .= 0
    for j in 1:n, i in 1:m
        diagonal = H[i, j] + score(a[i], b[j])
        up = H[i, j+1] - gap
        left = H[i+1, j] - gap
        H[i+1, j+1] = max(0, diagonal, up, left)
        best = max(best, H[i+1, j+1])
    end
    return best
end

"Affine gaps, after Gotoh."
@tessella function gotoh!(M, X, Y, a, b; open = 5, extend = 1)
    m, n = length(a), length(b)
    low = typemin(eltype(M)) ÷ 2
    for i in 0:m
        M[i+1, 1] = i == 0 ? 0 : low
        X[i+1, 1] = -open - i * extend
        Y[i+1, 1] = low
    end
    for j in 1:n
        M[1, j+1] = low
        X[1, j+1] = low
        Y[1, j+1] = -open - j * extend
    end
    for i = 1:m, j = 1:n
        s = score(a[i], b[j], match = 2, mismatch = -1)
        M[i+1, j+1] = s + max(M[i, j], X[i, j], Y[i, j])
        X[i+1, j+1] = max(M[i, j+1] - open, X[i, j+1] - extend)
        Y[i+1, j+1] = max(M[i+1, j] - open, Y[i+1, j] - extend)
    end
    return max(M[m+1, n+1], X[m+1, n+1], Y[m+1, n+1])
end

@tessella function lcs_length(a::Vector{T}, b::Vector{T}) where {T}
    m, n = length(a), length(b)
    L = zeros(Int, m + 1, n + 1)
    for i in 1:m, j in 1:n
        L[i+1, j+1] = a[i] == b[j] ? L[i, j] + 1 : max(L[i+1, j], L[i, j+1])
    end
    return L[end, end]
end

@tessella function floyd_warshall!(D, next)
    n = size(D, 1)
    for k in 1:n, j in 1:n, i in 1:n
        through = D[i, k] + D[k, j]
        if through < D[i, j]
            D[i, j] = through
            next[i, j] = next[i, k]
        end
    end
    return nothing
end

"Transitive closure."
@tessella function warshall!(R::Matrix{Bool})
    n = size(R, 1)
    for k in 1:n, j in 1:n, i in 1:n
        R[i, j] |= R[i, k] & R[k, j]
    end
    R
end

@tessella function bellman_ford!(dist, from, to, weight, source)
    n = length(dist)
    fill!(dist, Inf)
    dist[source] = 0.0
    for _ in 1:n-1
        for e in eachindex(weight)
            d = dist[from[e]] + weight[e]
            if d < dist[to[e]]
                dist[to[e]] = d
            end
        end
    end
    return dist
end

@tessella function knapsack(values, weights, capacity::Int)
    n = length(values)
    best = zeros(Int, capacity + 1)
    for i in 1:n
        for c in capacity:-1:0
            if weights[i] <= c
                candidate = best[c-weights[i]+1] + values[i]
                best[c+1] = max(best[c+1], candidate)
            end
        end
    end
    return best[capacity+1]
end

@tessella function viterbi!(δ, ψ, logA, logB, logπ, obs)
    K, T = size(δ)
    for k in 1:K
        δ[k, 1] = logπ[k] + logB[k, obs[1]]
        ψ[k, 1] = 0
    end
    for t in 2:T, k in 1:K
        best = -Inf
        arg = 0
        for l in 1:K
            candidate = δ[l, t-1] + logA[l, k]
            if candidate > best
                best = candidate
                arg = l
            end
        end
        δ[k, t] = best + logB[k, obs[t]]
        ψ[k, t] = arg
    end
end

@tessella function matrix_chain!(m, dims)
    n = length(dims) - 1
    for i in 1:n
        m[i, i] = 0
    end
    for len in 2:n
        for i in 1:n-len+1
            j = i + len - 1
            m[i, j] = typemax(Int)
            for k in i:j-1
                cost = m[i, k] + m[k+1, j] + dims[i] * dims[k+1] * dims[j+1]
                m[i, j] = min(m[i, j], cost)
            end
        end
    end
    return n < 1 ? 0 : m[1, n]
end

"Dynamic time warping within a band of `w`."
@tessella function dtw(x, y; w = 3)
    n, m = length(x), length(y)
    D = fill(Inf, n + 1, m + 1)
    D[1, 1] = 0.0
    for i in 1:n, j in max(1, i - w):min(m, i + w)
        D[i+1, j+1] = abs(x[i] - y[j]) + min(D[i, j+1], D[i+1, j], D[i, j])
    end
    return D[n+1, m+1]
end

"Forward algorithm of a hidden Markov model, scaled."
@tessella function forward_probability!(α, scale, A, B, π0, obs)
    K, N = size(α)
    for t in 1:N
        total = 0.0
        for k in 1:K
            p = 0.0
            if t == 1
                p = π0[k]
            else
                for l in 1:K
                    p += α[l, t-1] * A[l, k]
                end
            end
            α[k, t] = p * B[k, obs[t]]
            total += α[k, t]
        end
        scale[t] = total
        for k in 1:K
            α[k, t] /= total
        end
    end
    return nothing
end

letters(n, s) = integers_of(1, 4, n + s)[1+s:end]

program(smith_waterman!, (T, n) -> (ones(Int, n + 1, n + 3), letters(n, 0), letters(n + 2, 3)))
program(gotoh!, (T, n) -> (zeros(Int, n + 1, n + 2), zeros(Int, n + 1, n + 2), zeros(Int, n + 1, n + 2), letters(n, 0), letters(n + 1, 3)))
program(lcs_length, (T, n) -> (letters(n, 0), letters(n, 2)))
program(floyd_warshall!, (T, n) -> (positive_of(T, n, n), [j for i in 1:n, j in 1:n]); types = [Float32, Float64])
program(warshall!, (T, n) -> (Bool[(i * j + i) % 7 == 0 for i in 1:n, j in 1:n],))
program(bellman_ford!, (T, n) -> (zeros(T, n), integers_of(1, max(n, 1), n > 0 ? 3n : 0), reverse(integers_of(1, max(n, 1), n > 0 ? 3n : 0)), positive_of(T, n > 0 ? 3n : 0), 1))
program(knapsack, (T, n) -> (integers_of(1, 9, n), integers_of(1, 5, n), 11))
program(viterbi!, (T, n) -> (zeros(T, 3, n), zeros(Int, 3, n), values_of(T, 3, 3), values_of(T, 3, 4), values_of(T, 3), letters(n, 0)))
program(matrix_chain!, (T, n) -> (zeros(Int, n, n), integers_of(1, 9, n + 1)))
program(dtw, (T, n) -> (values_of(T, n), positive_of(T, n + 1)); slow = true)
program(forward_probability!, (T, n) -> (zeros(T, 3, n), zeros(T, n), positive_of(T, 3, 3), positive_of(T, 3, 4), positive_of(T, 3), letters(n, 0)); slow = true)

end
