# Sums and maxima over three axes: blocks take lines, threads points, and each goes through all planes.
#! sizes x=l,m,n
#! run l=1 m=1 n=1
#! run l=37 m=5 n=3
#! run l=300 m=3 n=2
using Tessella

@tessella function space_total(x::Array{Float32,3})
    most = -Inf32
    total = 0
    for k in axes(x, 3), j in axes(x, 2), i in axes(x, 1)
        most = max(most, x[i, j, k])
        total += x[i, j, k] > 0 ? 1 : 0
    end
    return most, total
end
