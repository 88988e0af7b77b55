# Means and squares of each channel of each image, both in one loop; a block has each of a few.
#! sizes A=l,m,c,b sums=c,b squares=c,b
#! run l=1 m=1 c=1 b=1
#! run l=300 m=2 c=3 b=2
#! run l=1 m=2 c=60 b=9
using Tessella

@tessella function sums_in_two_axes!(sums::Matrix{Int64}, squares::Matrix{Int64}, A::Array{Int64,4})
    l, m, c, b = size(A)
    for n in 1:b, k in 1:c
        s = 0
        q = 0
        for j in 1:m, i in 1:l
            s += A[i, j, k, n]
            q += A[i, j, k, n] * A[i, j, k, n]
        end
        sums[k, n] = s
        squares[k, n] = q
    end
    return nothing
end
