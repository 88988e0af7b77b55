# A filter: several points a thread share what they read.
#! sizes result=m,n image=m,n weights=5,5
#! run m=4 n=9
#! run m=5 n=5
#! run m=36 n=37
#! run m=37 n=70
using Tessella

@tessella function filter!(result::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32})
    m, n = size(image)
    for j in 3:n-2, i in 3:m-2
        result[i, j] = 0
        for q in 1:5, p in 1:5
            result[i, j] += weights[p, q] * image[i+p-3, j+q-3]
        end
    end
end
