# Two sums of each column in any order, which add up in the order of columns: a block has a column for both.
#! sizes A=m,n
#! run m=1 n=1
#! run m=300 n=3
#! run m=17 n=70
using Tessella

@tessella function sums_by_columns(A::Matrix{Float32})
    m, n = size(A)
    total = 0f0
    squares = 0f0
    for j in 1:n
        @simd for i in 1:m
            total += A[i, j]
            squares += A[i, j] * A[i, j]
        end
    end
    return total, squares
end
