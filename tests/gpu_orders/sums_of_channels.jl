# Sums over the planes of an image, of integers: a block has each of a few channels.
#! sizes A=l,m,c sums=c
#! run l=1 m=1 c=1
#! run l=300 m=3 c=3
#! run l=5 m=40 c=2
#! run l=1 m=2 c=1073
using Tessella

@tessella function sums_of_channels!(sums::Vector{Int64}, A::Array{Int64,3})
    l, m, c = size(A)
    for k in 1:c
        s = 0
        for j in 1:m, i in 1:l
            s += A[i, j, k]
        end
        sums[k] = s
    end
    return nothing
end
