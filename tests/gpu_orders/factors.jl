# Statements of different depth that wait for one another: in tiles of all three loops, diagonals of which are kernels.
#! sizes A=n,n
#! run n=0
#! run n=1
#! run n=7
#! run n=32
#! run n=71
using Tessella

@tessella function factors!(A::Matrix{Float64})
    n = size(A, 1)
    for i in 1:n
        for j in 1:i-1
            for k in 1:j-1
                A[i, j] -= A[i, k] * A[k, j]
            end
            A[i, j] /= A[j, j]
        end
        for j in i:n, k in 1:i-1
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
end
