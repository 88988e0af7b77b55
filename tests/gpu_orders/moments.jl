# A loop over all elements that keeps each first: one pass for both sums.
#! sizes A=m,n
#! run m=1 n=1
#! run m=0 n=3
#! run m=33 n=9
#! run m=300 n=7
using Tessella

@tessella function moments(A::Matrix{Int64})
    s = 0
    q = 0
    for a in A
        s += a
        q += a * a
    end
    return 3s + q
end
