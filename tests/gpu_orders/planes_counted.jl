# Counts of a plane and of the next one: no block has those of one plane alone.
#! sizes h=4,c a=m,c
#! run m=8300 c=3
#! run m=40 c=2
using Tessella

@tessella function planes_counted!(h::Matrix{Int64}, a::Matrix{Int32})
    for c in 1:size(a, 2)-1, i in axes(a, 1)
        h[mod1(a[i, c], 4), c] += 1
        h[mod1(a[i, c], 4), c+1] += 2
    end
    return nothing
end
