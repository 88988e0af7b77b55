@tessella function raise!(A::Matrix{Float64})
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] = A(i, j) + A(i, j-1)
    end
end
