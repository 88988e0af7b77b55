# Each step reads a row and a column of what it writes: in pieces, where the two cross, its points run on threads.
#! sizes path=n,n
#! run n=0
#! run n=1
#! run n=5
#! run n=37
using Tessella

@tessella function crossing!(path::Matrix{Float64})
    n = size(path, 1)
    for k in 1:n, j in 1:n, i in 1:n
        path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    end
end
