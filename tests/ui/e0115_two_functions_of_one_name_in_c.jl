#! transpile
using Tessella

@tessella function smoothed!(B::Vector{Float64}, A::Vector{Float64})
    for i in 2:length(A)-1
        B[i] = (A[i-1] + A[i] + A[i+1]) / 3
    end
end

@tessella function smoothed(A::Vector{Float64})
    B = copy(A)
    for i in 2:length(A)-1
        B[i] = (A[i-1] + A[i] + A[i+1]) / 3
    end
    return B
end

@tessella function smoothed!(A::Matrix{Float64})
    for j in axes(A, 2), i in axes(A, 1)
        A[i, j] = A[i, j] / 2
    end
end
