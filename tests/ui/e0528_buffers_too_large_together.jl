#! target cuda
@tessella function f!(C::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(C)
    for j in 1:n, i in 1:m, k in 1:size(A, 2)
        @comp S C[i, j] += A[i, k] * B[k, j]
    end
end

@schedule f! begin
    tile(S, (j, i, k), (32, 32, 480))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, k0)
    cache_shared(B, S, k0)
    cache_register(C, S, i0)
end
