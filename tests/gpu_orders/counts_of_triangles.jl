# Counts over a triangle, beside a statement without its diagonal: blocks are started as far as there is something to count.
#! sizes a=n,n cnt=c x=n
#! run n=0 c=5
#! run n=1 c=5
#! run n=10 c=5
#! run n=67 c=5
#! run n=40 c=33
using Tessella

@tessella function counts_of_triangles!(a::Matrix{Int64}, cnt::Vector{Int64}, x::Vector{Int64})
    n = length(x)
    for j in 1:n, i in 1:j
        cnt[mod(x[i] * x[j], 5)+1] += 1
        if i < j
            a[i, j] += 1
        end
    end
end
