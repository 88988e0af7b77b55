@tessella function scaled!(A::Matrix{Float32})
    for j in axes(A, 2), i in axes(A, 1)
        @comp S A[i, j] = 2f0 * A[i, j]
    end
end
