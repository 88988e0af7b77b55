# The covariance matrix of the columns of `data`, which is centred on the way
using Tessella

@tessella function covariance!(cov, data, mean)
    samples, n = size(data)
    for j in 1:n
        mean[j] = 0
        for k in 1:samples
            mean[j] += data[k, j]
        end
        mean[j] /= samples
    end
    for j in 1:n, k in 1:samples
        data[k, j] -= mean[j]
    end
    for j in 1:n, i in 1:j
        cov[i, j] = 0
        for k in 1:samples
            cov[i, j] += data[k, i] * data[k, j]
        end
        cov[i, j] /= samples - 1
        cov[j, i] = cov[i, j]
    end
    return cov
end

function covariance_inputs(::Type{T}, n) where {T}
    data = T[mod(k * j + j, 29) / 29 for k in 1:n+1, j in 1:n]
    return zeros(T, n, n), data, zeros(T, n)
end
