# A triangle of a product of a matrix with itself, its sums in a variable, and the other triangle beside it.
#! sizes C=m,m A=n,m
#! run m=0 n=3
#! run m=1 n=1
#! run m=7 n=0
#! run m=131 n=35
using Tessella

@tessella function variable_triangle!(C::Matrix{Float64}, A::Matrix{Float64})
    n, m = size(A)
    for i in 1:m, j in i:m
        acc = 0.0
        for k in 1:n
            acc += A[k, i] * A[k, j]
        end
        C[i, j] = acc / n
        C[j, i] = C[i, j]
    end
end
