# Filters whose weights have any size: constant memory has room for those that are read, from arrays that may be larger. Where it is a column of one that is
# the bias, and where a weight is read twice, one box holds all.
#! sizes result=m,n image=m,n weights=5,7 bias=4,2
#! run m=5 n=5
#! run m=69 n=21
@tessella function any_weights!(result::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32}, bias::Matrix{Float32})
    m, n = size(image)
    for j in 3:n-2, i in 3:m-2
        s = bias[2, 1] - weights[4, 2]
        for q in 1:5, p in 2:5
            s += weights[p, q] * image[i+p-3, j+q-3]
        end
        result[i, j] = s
    end
    return nothing
end
