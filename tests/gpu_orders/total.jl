# The sum of a matrix of integers, in any order: a block for some columns, a thread for some rows, and combined by blocks.
#! sizes A=m,n out=1
#! run m=0 n=0
#! run m=1 n=1
#! run m=257 n=3
#! run m=13 n=37
using Tessella

@tessella function total!(out::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    s = 0
    for j in 1:n, i in 1:m
        s += A[i, j]
    end
    out[1] = s
    return nothing
end
