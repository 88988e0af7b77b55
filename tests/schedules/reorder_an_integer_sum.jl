# Integers wrap around: their sums may be taken in any order, here backwards, by tiles, and row by row.
#! run m=0 n=2
#! run m=1 n=1
#! run m=7 n=10
@tessella function total!(s::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[1] += A[i, j]
    end
end

@schedule total! begin
    tile(S, (j, i), (4, 4))
    reverse(S, j0)
    interchange(S, i1, i0)
end
