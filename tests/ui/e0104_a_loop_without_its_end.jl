@tessella function symmetrize!(A)
    n = size(A, 1)
    for j in 1:n
        for i in j+1:n
            A[i, j] = A[j, i]
    end
end
