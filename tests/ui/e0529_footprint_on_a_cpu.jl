@tessella function f!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n-2, i in 1:m
        @comp S B[i, j] = A[i, j] + A[i, j+2]
    end
end

@schedule f! begin
    tile(S, (j, i), (8, 32))
    cache_shared(A, S, i0; threads=:footprint)
end
