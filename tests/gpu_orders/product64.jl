# A product with a transposed matrix, one for each slice.
#! sizes C=m,n,s A=m,p,s B=n,p
#! run m=0 n=3 p=2 s=1
#! run m=5 n=3 p=2 s=2
#! run m=128 n=64 p=16 s=1
#! run m=129 n=65 p=17 s=2
using Tessella

@tessella function product64!(C::Array{Float64,3}, A::Array{Float64,3}, B::Matrix{Float64})
    for s in axes(C, 3), i in axes(C, 1), j in axes(C, 2), k in axes(A, 2)
        C[i, j, s] += A[i, k, s] * B[j, k]
    end
end
