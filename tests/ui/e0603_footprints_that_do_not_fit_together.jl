#! target cuda
@tessella function f!(out::Matrix{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(A)
    for j in 3:n-2, i in 3:m-2
        @comp S out[i, j] = A[i-2, j] + A[i+2, j] + B[i, j-2] + B[i, j+2]
    end
end

@schedule f! begin
    tile(S, (j, i), (28, 32))
    gpu(S, (j0, i0), (j1, i1))
    cache_shared(A, S, i0; threads=:footprint)
    cache_shared(B, S, i0; threads=:footprint)
end
