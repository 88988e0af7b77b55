# A sum and a maximum over four axes: blocks take lines, threads points, and each goes through the two outer axes.
#! sizes A=k,l,m,n out=2
#! run k=1 l=1 m=1 n=1
#! run k=300 l=3 m=2 n=2
#! run k=5 l=531 m=1 n=3
using Tessella

@tessella function four_axes!(out::Vector{Int64}, A::Array{Int64,4})
    out[1] = sum(A)
    out[2] = maximum(A)
    return nothing
end
