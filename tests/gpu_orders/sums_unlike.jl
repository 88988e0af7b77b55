# Two sums in a loop, one of which takes some of its terms: a thread each, as a block would add up others for each of them.
#! sizes A=m,n O=n P=n
#! run m=0 n=3
#! run m=1 n=1
#! run m=40 n=33
using Tessella

@tessella function sums_unlike!(A::Matrix{Int64}, O::Vector{Int64}, P::Vector{Int64})
    for j in axes(A, 2)
        s, q = 0, 0
        for i in axes(A, 1)
            if i < j
                s += A[i, j]
            end
            q += A[i, j]
        end
        O[j] = s
        P[j] = q
    end
end
