# A length that an iteration keeps first is computed where it is used, so that the statement can be cut where its row and column cross.
using Tessella

@tessella function shortest_paths!(D::Matrix{Float64})
    n = size(D, 1)
    for k in 1:n, j in 1:n, i in 1:n
        d = D[i, k] + D[k, j]
        if d < D[i, j]
            D[i, j] = d
        end
    end
    return nothing
end
