# The correlation matrix of the columns of `data`, which is centred and scaled on the way
using Tessella

@tessella function kernel_correlation!(corr, data, mean, stddev)
    n, m = size(data)
    for j in 1:m
        mean[j] = 0
        for i in 1:n
            mean[j] += data[i, j]
        end
        mean[j] /= n
    end
    for j in 1:m
        stddev[j] = 0
        for i in 1:n
            stddev[j] += (data[i, j] - mean[j])^2
        end
        stddev[j] = sqrt(stddev[j] / n)
        if stddev[j] <= 0.1
            stddev[j] = 1
        end
    end
    for j in 1:m, i in 1:n
        data[i, j] = (data[i, j] - mean[j]) / (sqrt(n) * stddev[j])
    end
    for i in 1:m-1
        corr[i, i] = 1
        for j in i+1:m
            corr[i, j] = 0
            for k in 1:n
                corr[i, j] += data[k, i] * data[k, j]
            end
            corr[j, i] = corr[i, j]
        end
    end
    corr[m, m] = 1
    return corr
end

function correlation_inputs(::Type{T}, m, n) where {T}
    data = T[(i - 1) * (j - 1) / m + i - 1 for i in 1:n, j in 1:m]
    return fill(T(NaN), m, m), data, fill(T(NaN), m), fill(T(NaN), m)
end
