# Each tile computes the rows of the first stage that it needs, its neighbours' among them.
#! run m=0 n=0
#! run m=2 n=3
#! run m=3 n=3
#! run m=13 n=11
#! run m=37 n=42
@tessella function blur!(B::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    T = similar(A)
    for j in 1:n, i in 2:m-1
        @comp R T[i, j] = (A[i-1, j] + A[i, j] + A[i+1, j]) / 3.0f0
    end
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = (T[i, j-1] + T[i, j] + T[i, j+1]) / 3.0f0
    end
end

@schedule blur! begin
    tile(S, (j, i), (8, 16))
    compute_at(R, S, i0)
    parallel(S, j0)
    vectorize(S, i1, 8)
    vectorize(R, i, 8)
end
