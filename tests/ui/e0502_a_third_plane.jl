@tessella function wrapped!(A::Array{Float64,3})
    m, n, p = size(A)
    for j in 1:n, i in 1:m
        A[i, j, 1] = A[i, n + 1, j]
        A[i, 1, p + 1] = 0
    end
    for k in 1:3
        A[1, 1, -k] = 0
    end
end
