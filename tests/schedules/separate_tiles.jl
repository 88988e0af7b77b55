# Full tiles have constant bounds; partial ones are apart.
#! run m=0 n=5
#! run m=1 n=1
#! run m=7 n=8
#! run m=8 n=12
#! run m=13 n=17
@tessella function transpose!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S B[j, i] = 2A[i, j]
    end
end

@schedule transpose! begin
    tile(S, (j, i), (4, 4))
    parallel(S, j0)
    separate(S, (j0, i0))
    unroll(S, i1, 4)
end
