function doubled!(B::Matrix{Float16}, A)
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[i, j] = 2 * A[i, j]
    end
end
