# Statements of different depth that wait for one another: the host goes through the terms, and all elements of a step are threads.
#! sizes A=n,n
#! run n=0
#! run n=1
#! run n=7
#! run n=41
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
