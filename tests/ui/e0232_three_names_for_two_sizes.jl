@tessella function clear!(A::Matrix{Float64})
    m, n, p = size(A)
    for j in 1:n, i in 1:m
        A[i, j] = 0
    end
end
