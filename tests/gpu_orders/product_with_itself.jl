# A product of a matrix with itself, in a triangle that is mirrored: both operands are tiles of one array.
#! sizes cov=n,n data=m,n
#! multiprocessors 1
#! run n=0 m=2
#! run n=1 m=1
#! run n=5 m=0
#! run n=37 m=18
#! run n=131 m=17
#! run n=190 m=17
using Tessella

@tessella function product_with_itself!(cov::Matrix{Float32}, data::Matrix{Float32})
    samples, n = size(data)
    for j in 1:n, i in 1:j
        cov[i, j] = 0
        for k in 1:samples
            cov[i, j] += data[k, i] * data[k, j]
        end
        cov[i, j] /= samples - 1
        cov[j, i] = cov[i, j]
    end
end
