# Sums in variables that begin with elements and end as elements: all variables of a step are alive at a time anyway, so its statements get
# kernels of their own.
#! sizes A=n,n
#! run n=0
#! run n=1
#! run n=7
#! run n=35
using Tessella

@tessella function variable_factors!(A::Matrix{Float64})
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
end
