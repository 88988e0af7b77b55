# The covariance matrix of the columns of `data`, which is centred on the way
using Tessella

@tessella function kernel_covariance!(cov, data, mean)
    n, m = size(data)
    for j in 1:m
        mean[j] = 0
        for i in 1:n
            mean[j] += data[i, j]
        end
        mean[j] /= n
    end
    for j in 1:m, i in 1:n
        data[i, j] -= mean[j]
    end
    for i in 1:m, j in i:m
        cov[i, j] = 0
        for k in 1:n
            cov[i, j] += data[k, i] * data[k, j]
        end
        cov[i, j] /= n - 1.0
        cov[j, i] = cov[i, j]
    end
    return cov
end

function covariance_inputs(::Type{T}, m, n) where {T}
    data = T[(i - 1) * (j - 1) / m for i in 1:n, j in 1:m]
    return fill(T(NaN), m, m), data, fill(T(NaN), m)
end
