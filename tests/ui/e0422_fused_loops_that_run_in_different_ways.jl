@tessella function f!(A::Matrix{Float64}, B::Matrix{Float64}, C::Matrix{Float64})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp R B[i, j] = 0.5 * (A[i, j-1] + A[i, j+1])
    end
    for j in 2:n-1, i in 2:m-1
        @comp S C[i, j] = B[i, j] + A[i, j]
    end
end

@schedule f! begin
    parallel(R, j)
    unroll(S, j, 4)
    fuse(R, S, j)
end
