# Sums of rows of integers, updated in place column by column: a block has each of a few rows, and terms that lie a column apart.
#! sizes A=m,n sums=m
#! run m=1 n=1
#! run m=3 n=300
#! run m=1025 n=4
using Tessella

@tessella function sums_of_rows!(sums::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        sums[i] += A[i, j]
    end
    return nothing
end
