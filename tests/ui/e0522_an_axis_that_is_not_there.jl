#! target cuda
@tessella function f!(C::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S C[j, i] = A[i, j]
    end
end

@schedule f! begin
    tile(S, (j, i), (16, 16))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, i0; axes=(3, 1, 2))
end
