# Sums that three loops have for themselves: a block has each of a few, along the three axes of the grid.
#! sizes A=l,m,n,r sums=m,n,r
#! run l=1 m=1 n=1 r=1
#! run l=300 m=3 n=2 r=2
#! run l=2 m=30 n=3 r=2
using Tessella

@tessella function sums_in_three_axes!(sums::Array{Int64,3}, A::Array{Int64,4})
    for r in axes(A, 4), n in axes(A, 3), m in axes(A, 2)
        sums[m, n, r] = 0
        for l in axes(A, 1)
            sums[m, n, r] += A[l, m, n, r]
        end
    end
    return nothing
end
