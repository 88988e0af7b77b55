#! target cuda
@tessella function f!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 2:m-1
        @comp S B[i, j] = A[i-1, j] + A[i+1, j]
    end
end

@schedule f! begin
    tile(S, (j, i), (8, 32))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, i0; threads=272)
end
