# A product of matrices, and a scaling beside it.
#! sizes C=m,n A=m,p B=p,n β=3
#! multiprocessors 1
#! run m=0 n=3 p=2
#! run m=1 n=1 p=1
#! run m=130 n=7 p=0
#! run m=13 n=5 p=37
#! run m=129 n=131 p=34
#! run m=70 n=65 p=34
using Tessella

@tessella function product32!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32}, β::Float32)
    m, n = size(C)
    for j in 1:n
        for i in 1:m
            C[i, j] *= β
        end
        for k in axes(A, 2), i in 1:m
            C[i, j] += A[i, k] * B[k, j]
        end
    end
end
