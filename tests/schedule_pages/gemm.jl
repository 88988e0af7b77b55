@tessella function gemm!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    for j in axes(C, 2), i in axes(C, 1), k in axes(A, 2)
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
end
