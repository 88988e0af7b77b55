# Loops over tiles do not tell iterators: what is told is the number of the tile, or nothing but a subscript.
#! run m=0 n=2
#! run m=1 n=1
#! run m=8 n=3
#! run m=37 n=11
@tessella function sums!(s::Vector{Int64}, p::Vector{Int64}, d::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[j] += A[i, j]
    end
    for j in 1:n, i in 1:m
        @comp R p[j] += A[i, j]
    end
    for j in 1:n, i in 1:m
        @comp Q d[i + j] += A[i, j]
    end
end

@schedule sums! begin
    split(S, i, 16)
    rfactor(S, i1, 4)
    vectorize(S, i11, 4)
    tile(R, (j, i), (4, 8))
    parallel(R, j0)
    rfactor(R, i1, 2)
    skew(Q, j, i, 1)
    interchange(Q, j, i)
    rfactor(Q, j, 4)
end
