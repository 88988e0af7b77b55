# Four statements in the same tiles: roots, quotients and two kinds of products.
#! sizes A=n,n
#! run n=1
#! run n=31
#! run n=67
using Tessella

@tessella function cholesky!(A::Matrix{Float64})
    n = size(A, 1)
    for i in 1:n
        for j in 1:i-1
            for k in 1:j-1
                A[i, j] -= A[i, k] * A[j, k]
            end
            A[i, j] /= A[j, j]
        end
        for k in 1:i-1
            A[i, i] -= A[i, k] * A[i, k]
        end
        A[i, i] = sqrt(abs(A[i, i]))
    end
end
