# Red and black points by counters, in sweeps that the residual ends: columns run in parallel.
using Tessella

@tessella function sor!(A::Matrix{Float64}, tol::Float64, most::Int64)
    n, m = size(A)
    iter = 0
    err = tol + 1.0
    while iter < most && err > tol
        err = 0.0
        for j in 2:m-1
            i = 2 + (j + iter) % 2
            while i <= n - 1
                A[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
                i += 2
            end
        end
        for j in 1:m, i in 1:n
            err = max(err, abs(A[i, j]))
        end
        iter += 1
    end
    return nothing
end
