"""
Statistics and learning: moving averages, k-means, regression, kernel densities, standardising, a layer of a network, ranks.
"""
module Statistics

using Tessella
using ..Programs: program, values_of, positive_of, integers_of

@inline sqdist(X, C, i, k) = begin
    s = zero(eltype(X))
    for d in axes(X, 1)
        s += (X[d, i] - C[d, k])^2
    end
    s
end

@tessella function kmeans_assign!(label, X, C)
    changed = 0
    for i in axes(X, 2)
        best = typemax(eltype(X))
        arg = 0
        for k in axes(C, 2)
            d = sqdist(X, C, i, k)
            if d < best
                best = d
                arg = k
            end
        end
        changed += label[i] != arg
        label[i] = arg
    end
    return changed
end

@tessella function kmeans_update!(C, counts, X, label)
    fill!(C, 0)
    fill!(counts, 0)
    for i in axes(X, 2)
        k = label[i]
        counts[k] += 1
        for d in axes(X, 1)
            C[d, k] += X[d, i]
        end
    end
    for k in axes(C, 2)
        if counts[k] > 0
            for d in axes(C, 1)
                C[d, k] /= counts[k]
            end
        end
    end
end

@tessella function moving_average!(y, x, w::Int)
    n = length(x)
    @assert length(y) == n
    for i in 1:n
        lo = max(1, i - w)
        hi = min(n, i + w)
        s = zero(eltype(y))
        for k in lo:hi
            s += x[k]
        end
        y[i] = s / (hi - lo + 1)
    end
    return y
end

"By a running sum."
@tessella function running_mean!(y, x; w = 3)
    n = length(x)
    n < w && return nothing
    s = 0.0
    for i in 1:w
        s += x[i]
    end
    y[1] = s / w
    for i in w+1:n
        s += x[i] - x[i-w]
        y[i-w+1] = s / w
    end
    return nothing
end

"Mean and variance in one pass, after Welford."
@tessella function welford(x)
    mean = 0.0
    m2 = 0.0
    n = 0
    for v in x
        n += 1
        δ = v - mean
        mean += δ / n
        m2 += δ * (v - mean)
    end
    return mean, n > 1 ? m2 / (n - 1) : 0.0
end

@tessella function standardise!(X)
    n, p = size(X)
    for j in 1:p
        μ = 0.0
        for i in 1:n
            μ += X[i, j]
        end
        μ /= n
        v = 0.0
        for i in 1:n
            v += abs2(X[i, j] - μ)
        end
        σ = sqrt(v / max(n - 1, 1))
        for i in 1:n
            X[i, j] = σ > 0 ? (X[i, j] - μ) / σ : 0.0
        end
    end
    return X
end

@tessella function covariance(X)
    n, p = size(X)
    μ = [sum(X[i, j] for i in 1:n) / n for j in 1:p]
    Σ = zeros(p, p)
    for b in 1:p, a in 1:b
        s = 0.0
        for i in 1:n
            s += (X[i, a] - μ[a]) * (X[i, b] - μ[b])
        end
        Σ[a, b] = Σ[b, a] = s / (n - 1)
    end
    return Σ
end

"Least squares for a line, with the coefficient of determination."
@tessella function linear_fit(x::Vector{Float64}, y::Vector{Float64})
    n = length(x)
    sx = sum(x[i] for i = 1:n)
    sy = sum(y[i] for i = 1:n)
    sxx = sum(x[i]^2 for i = 1:n)
    sxy = sum(x[i] * y[i] for i = 1:n)
    slope = (n * sxy - sx * sy) / (n * sxx - sx^2)
    intercept = (sy - slope * sx) / n
    ss_res, ss_tot = 0.0, 0.0
    for i = 1:n
        fit = intercept + slope * x[i]
        ss_res += (y[i] - fit)^2
        ss_tot += (y[i] - sy / n)^2
    end
    return slope, intercept, 1 - ss_res / ss_tot
end

relu(x) = max(zero(x), x)

"A dense layer with a batch in the columns."
@tessella function dense!(Y, W, b, X)
    for j in axes(X, 2), i in axes(W, 1)
        acc = b[i]
        for k in axes(W, 2)
            acc += W[i, k] * X[k, j]
        end
        Y[i, j] = relu(acc)
    end
    return Y
end

"Gradient step for a dense layer."
@tessella function backprop!(dW, db, dX, W, X, Y, dY; η = 0.1)
    nout, nin = size(W)
    batch = size(X, 2)
    G = dY .* (Y .> 0)
    for k in 1:nin, i in 1:nout
        dW[i, k] = 0
        for j in 1:batch
            dW[i, k] += G[i, j] * X[k, j]
        end
    end
    for i in 1:nout
        db[i] = 0
        for j in 1:batch
            db[i] += G[i, j]
        end
    end
    for j in 1:batch, k in 1:nin
        dX[k, j] = zero(eltype(dX))
        for i in 1:nout
            dX[k, j] += W[i, k] * G[i, j]
        end
    end
    W .-= η .* dW
    return nothing
end

"Convolution of a network: channels last, stride one, no padding."
@tessella function conv2d!(out, img, weights)
    h, w, cin = size(img)
    kh, kw, _, cout = size(weights)
    for co in 1:cout, j in 1:w-kw+1, i in 1:h-kh+1
        acc = zero(eltype(out))
        for ci in 1:cin, q in 1:kw, p in 1:kh
            acc += img[i+p-1, j+q-1, ci] * weights[p, q, ci, co]
        end
        out[i, j, co] = acc
    end
end

@tessella function maxpool!(out, img)
    for c in axes(out, 3), j in axes(out, 2), i in axes(out, 1)
        out[i, j, c] = max(img[2i-1, 2j-1, c], img[2i, 2j-1, c], img[2i-1, 2j, c], img[2i, 2j, c])
    end
    return out
end

"Layer normalisation over each column."
@tessella function layernorm!(Y, X, γ, β; ϵ = 1e-5)
    n = size(X, 1)
    for j in 1:size(X, 2)
        col = @view X[:, j]
        μ = zero(eltype(X))
        for x in col
            μ += x
        end
        μ /= n
        σ² = zero(eltype(X))
        for x in col
            σ² += (x - μ)^2
        end
        σ² /= n
        inv_std = inv(sqrt(σ² + ϵ))
        @. Y[:, j] = γ * (X[:, j] - μ) * inv_std + β
    end
end

"The rank of each number: how many are smaller, ties by position."
@tessella function ranks!(r, x)
    for i in eachindex(x)
        k = 1
        for j in eachindex(x)
            if x[j] < x[i] || (x[j] == x[i] && j < i)
                k += 1
            end
        end
        r[i] = k
    end
    return r
end

"Confusion matrix and accuracy."
@tessella function confusion!(M, truth, guess)
    M .= 0
    for (t, g) in zip(truth, guess)
        M[t, g] += 1
    end
    right = 0
    for k in 1:size(M, 1)
        right += M[k, k]
    end
    return right / length(truth)
end

program(kmeans_assign!, (T, n) -> (zeros(Int, n), values_of(T, 2, n), positive_of(T, 2, 3)); types = [Float32, Float64], slow = true)
program(kmeans_update!, (T, n) -> (ones(T, 2, 3), ones(Int, 3), values_of(T, 2, n), integers_of(1, 3, n)))
program(moving_average!, (T, n) -> (zeros(T, n), values_of(T, n), 2))
program(running_mean!, (T, n) -> (zeros(T, n), values_of(T, n)))
program(welford, (T, n) -> (values_of(T, n),))
program(standardise!, (T, n) -> (values_of(T, n, n + 1),))
program(covariance, (T, n) -> (values_of(T, n + 1, n),))
program(linear_fit, (T, n) -> (positive_of(T, n), values_of(T, n)))
program(dense!, (T, n) -> (zeros(T, 4, n), values_of(T, 4, 3), values_of(T, 4), values_of(T, 3, n)); slow = true)
program(backprop!, (T, n) -> (zeros(T, 4, 3), zeros(T, 4), zeros(T, 3, n), values_of(T, 4, 3), values_of(T, 3, n), values_of(T, 4, n), positive_of(T, 4, n)); slow = true)
program(conv2d!, (T, n) -> (zeros(T, n, n + 1, 2), values_of(T, n + 2, n + 3, 3), values_of(T, 3, 3, 3, 2)); slow = true)
program(maxpool!, (T, n) -> (zeros(T, n, n, 2), values_of(T, 2n, 2n, 2)); slow = true)
program(layernorm!, (T, n) -> (zeros(T, n, 3), values_of(T, n, 3), positive_of(T, n), values_of(T, n)); slow = true)
program(ranks!, (T, n) -> (zeros(Int, n), values_of(T, n)))
program(confusion!, (T, n) -> (zeros(Int, 3, 3), integers_of(1, 3, n), reverse(integers_of(1, 3, n))))

end
