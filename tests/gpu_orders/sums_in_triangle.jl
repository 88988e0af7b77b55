# Sums of integers of a triangle of columns, and the largest difference across the diagonal: blocks for some planes and columns.
#! sizes A=m,n,n sums=n,n
#! run m=1 n=1
#! run m=300 n=3
#! run m=1 n=50
using Tessella

@tessella function sums_in_triangle!(sums::Matrix{Int64}, A::Array{Int64,3})
    m, n = size(A, 1), size(A, 3)
    for k in 1:n, j in 1:k
        s = 0
        for i in 1:m
            s += A[i, j, k]
        end
        sums[j, k] = s
    end
    return nothing
end
