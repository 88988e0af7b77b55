# Elimination with the largest of each column as its pivot: a search in each turn, of what the turns before left.
using Tessella

@tessella function pivots!(A::Matrix{Float64}, p::Vector{Int})
    n = size(A, 1)
    for k in 1:n-1
        best, at = abs(A[k, k]), k
        for i in k+1:n
            if abs(A[i, k]) > best
                best = abs(A[i, k])
                at = i
            end
        end
        p[k] = at
        for j in k:n
            A[k, j], A[at, j] = A[at, j], A[k, j]
        end
        for i in k+1:n
            A[i, k] = A[i, k] / A[k, k]
        end
        for j in k+1:n, i in k+1:n
            A[i, j] -= A[i, k] * A[k, j]
        end
    end
end
#! sizes A=n,n p=n
#! run n=1
#! run n=2
#! run n=19
