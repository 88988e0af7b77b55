# Weights whose size the source fixes: in constant memory, as all threads of a block read one of them at a time. Taps that threads read
# by their own index stay where they are.
#! sizes result=m,n image=m,n weights=3,3 taps=100
#! run m=3 n=3
#! run m=69 n=21
using Tessella

@tessella function weigh!(result::Matrix{Float32}, image::Matrix{Float32}, weights::Matrix{Float32}, taps::Vector{Float32})
    @assert size(weights) == (3, 3)
    @assert length(taps) <= 100
    m, n = size(image)
    for j in 2:n-1, i in 2:m-1
        result[i, j] = taps[i]
        for q in 1:3, p in 1:3
            result[i, j] += weights[p, q] * image[i+p-2, j+q-2]
        end
    end
    return nothing
end
