# A diagonal of its own, in a vector: three statements that a step needs one after the other.
#! sizes A=n,n d=n
#! run n=1
#! run n=33
#! run n=71
using Tessella

@tessella function ldl!(A::Matrix{Float64}, d::Vector{Float64})
    n = size(A, 1)
    for k in 1:n
        d[k] = A[k, k]
        for i in k+1:n
            A[i, k] /= d[k]
        end
        for j in k+1:n, i in j:n
            A[i, j] -= A[i, k] * d[k] * A[j, k]
        end
    end
end
