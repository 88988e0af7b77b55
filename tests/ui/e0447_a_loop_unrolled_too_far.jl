@tessella function heat!(A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(A)
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
    end
end

@schedule heat! begin
    unroll(S, i, 70000)
end
