# A product whose sums are kept in a variable, which is used with what was there before.
#! sizes C=m,n A=m,p B=p,n α=3 β=5
#! run m=0 n=3 p=2
#! run m=1 n=1 p=1
#! run m=130 n=7 p=0
#! run m=13 n=5 p=37
#! run m=129 n=131 p=34
using Tessella

@tessella function variable_product!(
    C::Matrix{Float32},
    A::Matrix{Float32},
    B::Matrix{Float32},
    α::Float32,
    β::Float32,
)
    m, n = size(C)
    for j in 1:n, i in 1:m
        acc = 0f0
        for k in axes(A, 2)
            acc += A[i, k] * B[k, j]
        end
        C[i, j] = α * acc + β * C[i, j]
    end
end
