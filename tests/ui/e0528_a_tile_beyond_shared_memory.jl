#! target cuda
@tessella function f!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = A[i-1, j] + A[i+1, j]
    end
end

@schedule f! begin
    tile(S, (j, i), (32, 1024))
    split(S, i1, 32)
    gpu(S, (j0, i0), (j1, i11))
    cache_shared(A, S, i0)
end
