@tessella function cleared!(A::Matrix{Float64})
    for j in axes(A, 2), i in axes(A, 1)
        A[i][j] = 0
    end
end
