@tessella function top!(A::Matrix{Float64})
    for j in axes(A, 2)
        A[1 j] = 0
    end
end
