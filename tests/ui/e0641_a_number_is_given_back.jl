#! target cuda
#! chunked

function total(A::Matrix{Float64})
    s = 0.0
    for j in axes(A, 2), i in axes(A, 1)
        s += A[i, j]
    end
    return s
end
