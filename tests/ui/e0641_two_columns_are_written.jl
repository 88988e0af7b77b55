#! target cuda
#! chunked

function both!(A::Matrix{Float64}, x::Vector{Float64})
    for j in 1:length(x)
        A[1, j] = x[j]
        A[2, j+1] = 2 * x[j]
    end
end
