#! draw
#! size m=10 n=9 K=4
#! fix k=2
@tessella function gemm!(C, A, B)
    m, n = size(C)
    K = size(A, 2)
    for j in 1:n, i in 1:m, k in 1:K
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
end

@schedule gemm! begin
    tile(S, (j, i), (4, 4))
    parallel(S, j0)
end
