@tessella function residual!(r, A, x, b)
    m, n = size(A)
    for i in 1:m
        r[i] = b[i]
        for j in 1:n
            r[i] -= (A[i, j] * x[j]
        end
    end
end
