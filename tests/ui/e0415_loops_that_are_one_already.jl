@tessella function f!(A::Matrix{Float32}, B::Matrix{Float32}, C::Matrix{Float32})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp R B[i, j] = 0.5f0 * (A[i, j-1] + A[i, j+1])
    end
    for j in 2:n-1, i in 2:m-1
        @comp S C[i, j] = B[i, j] + A[i, j]
    end
end

@schedule f! begin
    fuse(R, S, j)
    fuse(R, S, j)
end
