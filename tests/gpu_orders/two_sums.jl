# A result that two loops sum up stays in a register, and loads run ahead of it.
#! sizes A=m,r B=m,p,q C=p,r D=q,r
#! run m=0 r=1 p=1 q=1
#! run m=1 r=1 p=1 q=1
#! run m=33 r=9 p=35 q=3
using Tessella

@tessella function two_sums!(A::Matrix{Float32}, B::Array{Float32,3}, C::Matrix{Float32}, D::Matrix{Float32})
    m, p, q = size(B)
    for r in 1:size(A, 2), l in 1:q, k in 1:p, i in 1:m
        A[i, r] += B[i, k, l] * C[k, r] * D[l, r]
    end
end
