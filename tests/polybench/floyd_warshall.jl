# The lengths of the shortest paths between all pairs of places
using Tessella

@tessella function kernel_floyd_warshall!(path)
    n = size(path, 1)
    for k in 1:n, j in 1:n, i in 1:n
        path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    end
    return path
end

function floyd_warshall_inputs(::Type{T}, n) where {T}
    far(i, j) = mod(i + j, 13) == 0 || mod(i + j, 7) == 0 || mod(i + j, 11) == 0
    return (T[far(i - 1, j - 1) ? 999 : mod((i - 1) * (j - 1), 7) + 1 for i in 1:n, j in 1:n],)
end
