#! target cuda
#! chunked

function kept!(A::Matrix{Float64}, x::Vector{Float64})
    s = 0.0
    for i in 1:length(x)
        s += x[i]
    end
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] += s
    end
end
