#! target cuda
#! chunked

function rows!(A::Matrix{Float64}, first::Vector{Int})
    for j in 1:size(A, 2), i in first[j]:size(A, 1)
        A[i, j] = 0.0
    end
end
