# Elimination in tiles of all three loops: diagonals of tiles are kernels, whose threads go through the steps together.
#! sizes A=n,n
#! run n=0
#! run n=1
#! run n=32
#! run n=33
#! run n=71
using Tessella

@tessella function decomposition!(A::Matrix{Float64})
    n = size(A, 1)
    for k in 1:n
        for i in k+1:n
            A[i, k] /= A[k, k]
        end
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
end
