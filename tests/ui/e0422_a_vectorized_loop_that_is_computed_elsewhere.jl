@tessella function f!(A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(A)
    T = Matrix{Float64}(undef, m, n)
    for j in 2:n-1, i in 2:m-1
        @comp R T[i, j] = 0.5 * (A[i, j-1] + A[i, j+1])
    end
    for j in 2:n-1, i in 2:m-1
        @comp S B[i, j] = T[i, j] + A[i, j]
    end
end

@schedule f! begin
    vectorize(R, i, 8)
    compute_at(R, S, i)
end
