# Arrays that are written only do not come in: all columns but nine go back, and those that are computed of more columns.
#! sizes A=m,n B=p,q C=m,n
#! run m=0 n=3 p=0 q=3
#! run m=1 n=1 p=1 q=1
#! run m=7 n=5 p=7 q=5
#! run m=33 n=40 p=35 q=40
#! run m=33 n=40 p=33 q=41
#! run m=40 n=33 p=40 q=33
using Tessella

@tessella function written_columns!(A::Matrix{Float64}, B::Matrix{Float64}, C::Matrix{Float64})
    m, n = size(C)
    for j in 1:n-9, i in 1:m
        A[i, j] = 2 * C[i, j]
    end
    for j in 1:n, i in 1:m
        B[i, j] = C[i, j] + 1
    end
end
