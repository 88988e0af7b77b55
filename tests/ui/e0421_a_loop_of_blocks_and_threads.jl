#! target cuda
@tessella function smooth!(A, B)
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
    for j in 2:n-1, i in 2:m-1
        @comp R A[i, j] = B[i, j]
    end
end

@schedule smooth! begin
    gpu(S, j, j)
end
