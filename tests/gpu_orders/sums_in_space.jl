# Sums in three dimensions over two axes: a grid of three axes, warps of a block along one of them.
#! sizes T=m,r,s B=m,p,q C=p,r D=q,s
#! run m=1 r=1 s=1 p=1 q=1
#! run m=17 r=2 s=3 p=65 q=2
#! run m=65 r=6 s=2 p=33 q=1
using Tessella

@tessella function sums_in_space!(T::Array{Int64,3}, B::Array{Int64,3}, C::Matrix{Int64}, D::Matrix{Int64})
    m, p, q = size(B)
    for s in 1:size(T, 3), r in 1:size(T, 2), l in 1:q, k in 1:p, i in 1:m
        T[i, r, s] += B[i, k, l] * C[k, r] * D[l, s]
    end
end
