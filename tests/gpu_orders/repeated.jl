# Each point is changed three times, by a loop whose iterator no expression mentions: none of them may be computed before the one before is stored.
#! sizes a=m,n,o,q
#! run m=5 n=3 o=2 q=2
#! run m=1 n=1 o=1 q=1
using Tessella

@tessella function repeated!(a::Array{Float64,4})
    m, n, o, q = size(a)
    for l in 1:q, k in 1:o, j in 1:n, i in 1:m
        for r in 1:3
            a[i, j, k, l] = sqrt(a[i, j, k, l]) + 1
        end
    end
end
