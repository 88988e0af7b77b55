#! target cuda
#! chunked

function every_second!(A::Matrix{Float64}, B::Matrix{Float64})
    for j in 1:size(B, 2), i in 1:size(B, 1)
        A[i, 2j] = B[i, j]
    end
end
