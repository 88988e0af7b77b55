@tessella function threshold!(mask, A, limit)
    m, n = size(A)
    for j in 1:n, i in 1:m
        if A[i, j] > limit
            level = 1.0
        end
        mask[i, j] = level
    end
end
