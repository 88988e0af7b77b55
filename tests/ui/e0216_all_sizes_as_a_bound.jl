@tessella function clear!(A::Matrix{Float64})
    for i in 1:size(A), j in 1:size(A)
        A[i, j] = 0
    end
end
