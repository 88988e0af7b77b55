# The positive elements above a diagonal, in any order: columns of different lengths for the blocks, a condition on data in each thread.
#! sizes A=n,n out=1
#! run n=0
#! run n=1
#! run n=65
#! run n=300
using Tessella

@tessella function total!(out::Vector{Int64}, A::Matrix{Int64})
    s = 0
    for j in 1:size(A, 2), i in 1:j
        if A[i, j] > 0
            s += A[i, j]
        end
    end
    out[1] = s
    return nothing
end
