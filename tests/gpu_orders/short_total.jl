# A total of columns of three: one thread adds them up in order, as no two of its terms have a step in common.
#! sizes x=c,n
#! run c=3 n=1
#! run c=3 n=50
using Tessella

@tessella function short_total(x::Matrix{Float32})
    s = 0.0f0
    for j in 1:size(x, 2), c in 1:3
        s += x[c, j]
    end
    return s
end
