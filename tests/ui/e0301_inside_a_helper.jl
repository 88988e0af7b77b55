function flatten!(B, A, n)
    for j in 1:n, i in 1:n
        B[i + n * (j - 1)] = A[i, j]
    end
end

@tessella function pack!(B::Vector{Float64}, A::Matrix{Float64})
    flatten!(B, A, size(A, 1))
    return B
end
