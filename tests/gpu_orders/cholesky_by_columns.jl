# Column by column, each from all those before it.
#! sizes A=n,n
#! run n=1
#! run n=35
#! run n=66
using Tessella

@tessella function cholesky_by_columns!(A::Matrix{Float64})
    n = size(A, 1)
    for j in 1:n
        for k in 1:j-1, i in j:n
            A[i, j] -= A[i, k] * A[j, k]
        end
        A[j, j] = sqrt(abs(A[j, j]))
        for i in j+1:n
            A[i, j] /= A[j, j]
        end
    end
end
