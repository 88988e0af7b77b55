# The last axis of an array becomes the first. In the source the loops stand the other way round.
#! sizes A=l,m,n B=n,l,m
#! run l=1 m=1 n=1
#! run l=0 m=3 n=2
#! run l=33 m=2 n=35
#! run l=32 m=5 n=64
#! run l=3 m=37 n=40
using Tessella

@tessella function axes_rotated!(B::Array{Float64,3}, A::Array{Float64,3})
    l, m, n = size(A)
    for i in 1:l, j in 1:m, k in 1:n
        B[k, i, j] = A[i, j, k]
    end
    return nothing
end
