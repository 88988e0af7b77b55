@tessella function shortest!(path::Matrix{Float64})
    n = size(path, 1)
    for k in 1:n, j in 1:n, i in 1:n
        @comp S path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    end
end
