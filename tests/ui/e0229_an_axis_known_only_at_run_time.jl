@tessella function rim!(A::Matrix{Float64}, axis::Int)
    for i in 1:size(A, axis)
        A[i, 1] = 0
    end
end
