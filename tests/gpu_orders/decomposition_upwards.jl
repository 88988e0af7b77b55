# From the last row and column on: steps run backwards, in tiles like others.
#! sizes A=n,n
#! run n=1
#! run n=33
#! run n=70
using Tessella

@tessella function decomposition_upwards!(A::Matrix{Float64})
    n = size(A, 1)
    for k in n:-1:1
        for i in 1:k-1
            A[i, k] /= A[k, k]
        end
        for j in 1:k-1, i in 1:k-1
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
end
