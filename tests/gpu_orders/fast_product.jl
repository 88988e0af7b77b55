# Under `@fastmath` a thread of a product has groups of four results that are neighbours, along both axes.
@tessella function fast_product!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(C)
    p = size(A, 2)
    @fastmath for j in 1:n, k in 1:p, i in 1:m
        C[i, j] += A[i, k] * B[k, j]
    end
    return nothing
end
#! sizes C=m,n A=m,p B=p,n
#! multiprocessors 1
#! run m=0 n=3 p=2
#! run m=5 n=3 p=0
#! run m=131 n=133 p=11
#! run m=128 n=256 p=8
#! run m=67 n=259 p=3
