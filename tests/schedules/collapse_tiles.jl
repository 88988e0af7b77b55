# Points of a tile as one loop, and strips of a split loop.
#! run m=0 n=2
#! run m=1 n=1
#! run m=7 n=11
@tessella function scale!(A::Matrix{Float64}, x::Float64)
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S A[i, j] = x * A[i, j] + j
    end
end

@schedule scale! begin
    tile(S, (j, i), (2, 4))
    collapse(S, j1, i1)
    parallel(S, j0)
    vectorize(S, j1i1, 8)
end
