# A filter whose sums are kept in a variable: threads have several points, and a variable for each.
#! sizes out=m,n image=p,q weights=5,5
#! run m=0 n=3 p=4 q=7
#! run m=1 n=1 p=5 q=5
#! run m=131 n=19 p=135 q=23
#! run m=128 n=16 p=132 q=20
using Tessella

@tessella function variable_filter!(out::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32})
    m, n = size(out)
    for j in 1:n, i in 1:m
        acc = 0f0
        for l in 1:5, k in 1:5
            acc += weights[k, l] * image[i + k - 1, j + l - 1]
        end
        out[i, j] = acc
    end
end
