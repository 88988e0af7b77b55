# The loops around the reduction have been tiled, reordered and tagged before: each column of a tile has its own partial
# results, and a parallel loop gives each of its iterations memory of its own.
#! run m=0 n=0
#! run m=1 n=1
#! run m=3 n=2 k=4
#! run m=9 n=7 k=11
@tessella function product!(C::Matrix{Int64}, A::Matrix{Int64}, B::Matrix{Int64})
    m, n = size(C)
    k = size(A, 2)
    for p in 1:k, i in 1:m, j in 1:n
        @comp S C[i, j] += A[i, p] * B[p, j]
    end
end

@schedule product! begin
    interchange(S, p, j)
    tile(S, (j, i), (2, 4))
    parallel(S, j0)
    rfactor(S, p, 2)
    unroll(S, p1, 2)
end
