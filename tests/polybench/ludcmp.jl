# A x = b: A = L U without pivoting, then L y = b and U x = y
using Tessella

@tessella function kernel_ludcmp!(A, b, x, y)
    n = size(A, 1)
    for i in 1:n
        for j in 1:i-1
            w = A[i, j]
            for k in 1:j-1
                w -= A[i, k] * A[k, j]
            end
            A[i, j] = w / A[j, j]
        end
        for j in i:n
            w = A[i, j]
            for k in 1:i-1
                w -= A[i, k] * A[k, j]
            end
            A[i, j] = w
        end
    end
    for i in 1:n
        w = b[i]
        for j in 1:i-1
            w -= A[i, j] * y[j]
        end
        y[i] = w
    end
    for i in n:-1:1
        w = y[i]
        for j in i+1:n
            w -= A[i, j] * x[j]
        end
        x[i] = w / A[i, i]
    end
    return x
end

function ludcmp_inputs(::Type{T}, n) where {T}
    b = T[i / n / 2 + 4 for i in 1:n]
    return positive_definite(T, n), b, zeros(T, n), zeros(T, n)
end
