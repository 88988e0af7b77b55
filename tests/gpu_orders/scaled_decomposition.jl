# Rows and columns of a step are scaled in nests of their own: threads of one nest all move along the same loops.
#! sizes A=n,n
#! run n=1
#! run n=33
#! run n=70
using Tessella

@tessella function scaled_decomposition!(A::Matrix{Float64})
    n = size(A, 1)
    for k in 1:n
        for i in k+1:n
            A[i, k] /= A[k, k]
        end
        for j in k+1:n
            A[k, j] *= A[k, k]
        end
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
end
