@tessella function matmul!(C, A, B)
    m, n = size(C)
    for j in 1:n, i in 1:m
        @comp Z C[i, j] = 0
        for k in 1:size(A, 2)
            @comp S C[i, j] += A[i, k] * B[k, j]
        end
    end
end

@schedule matmul! begin
    interchange(S, i, k)
end
