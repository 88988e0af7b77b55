# Counts of the next plane, which the last one does not have: a condition on data keeps its updates away, and nothing is added behind the array.
#! sizes h=4,c a=m,c
#! run m=4100 c=3
#! run m=40 c=2
using Tessella

@tessella function next_plane_masked!(h::Matrix{Int64}, a::Matrix{Int32})
    @assert size(h, 1) == 4
    for c in axes(a, 2), i in axes(a, 1)
        if a[i, c] * 0 + c < size(a, 2)
            h[mod1(a[i, c], 4), c+1] += 1
        end
    end
    return nothing
end
