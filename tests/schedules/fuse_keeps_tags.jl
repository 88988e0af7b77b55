# A loop that joins a parallel one runs in parallel, and one that joins a vectorized one in vectors, whichever comes first.
#! run m=0 n=0
#! run m=3 n=4
#! run m=19 n=7
@tessella function twice!(A::Matrix{Float64}, B::Matrix{Float64}, C::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp R B[i, j] = 0.5 * (A[i, j-1] + A[i, j+1])
    end
    for j in 2:n-1, i in 2:m-1
        @comp S C[i, j] = B[i, j] + A[i, j]
    end
end

@schedule twice! begin
    parallel(S, j)
    vectorize(R, i, 4)
    fuse(R, S, j)
    fuse(R, S, i)
end
