# Sums of columns in each step, of what a condition on data lets through: a block has each of a few columns.
#! sizes A=m,n sums=n steps=3
#! run m=1 n=1
#! run m=300 n=3
#! run m=2 n=1057
using Tessella

@tessella function sums_in_steps!(sums::Vector{Int64}, A::Matrix{Int64}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n
            sums[j] = 0
            for i in 1:m
                if A[i, j] > t
                    sums[j] += A[i, j]
                end
            end
        end
        for j in 1:n, i in 1:m
            A[i, j] -= sums[j]
        end
    end
    return nothing
end
