#! target cuda
@tessella function f!(A::Matrix{Float32})
    m, n = size(A)
    for i in 1:2, j in 1:n
        @comp S A[i, j] = A[m-i+1, j]
    end
end

@schedule f! begin
    gpu(S, i, j)
end
