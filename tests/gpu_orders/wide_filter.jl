# A filter of any size: its windows overlap, and may be short, so that each thread adds up from global memory.
#! sizes out=m,n image=m2,n2 weights=p,q
#! run m=1 n=1 m2=1 n2=1 p=1 q=1
#! run m=35 n=9 m2=39 n2=11 p=5 q=3
using Tessella

@tessella function wide_filter!(out::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32})
    m, n = size(out)
    p, q = size(weights)
    for j in 1:n, i in 1:m, k in 1:p, l in 1:q
        out[i, j] += weights[k, l] * image[i + k - 1, j + l - 1]
    end
end
