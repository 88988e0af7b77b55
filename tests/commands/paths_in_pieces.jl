# Shortest paths, cut where the row and the column that are read cross the element.
#! target c
#! sizes D=n,n
using Tessella

@tessella function paths_in_pieces!(D::Matrix{Float64})
    n = size(D, 1)
    for k in 1:n, j in 1:n, i in 1:n
        @comp S D[i, j] = min(D[i, j], D[i, k] + D[k, j])
    end
    return nothing
end

@schedule paths_in_pieces! begin
    pieces(S, j, k)
end

paths_in_pieces_inputs(::Type{T}, n) where {T} = (T[mod(3i + 5j, 11) + 1 for i in 1:n, j in 1:n],)
