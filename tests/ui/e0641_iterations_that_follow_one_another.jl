#! target cuda
#! chunked

function sweep!(A::Matrix{Float64})
    for j in 2:size(A, 2), i in 1:size(A, 1)
        A[i, j] = A[i, j-1] + A[i, j]
    end
end
