# Sums over two axes of a tensor whose terms lie side by side: a block of four warps shares each tile of it. What only the outer loop
# over terms moves along stays in registers.
#! sizes A=m,r B=p,m,q C=p,r D=q,r
#! run m=0 r=1 p=1 q=1
#! run m=1 r=1 p=1 q=1
#! run m=17 r=5 p=65 q=2
#! run m=65 r=4 p=300 q=1
using Tessella

@tessella function tensor_sums!(A::Matrix{Float64}, B::Array{Float64,3}, C::Matrix{Float64}, D::Matrix{Float64})
    p, m, q = size(B)
    for r in 1:size(A, 2), l in 1:q, k in 1:p, i in 1:m
        A[i, r] += B[k, i, l] * C[k, r] * D[l, r]
    end
end
