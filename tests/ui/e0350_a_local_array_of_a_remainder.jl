@tessella function flatten!(y::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    work = zeros(m % n)
    for i in 1:m
        work[i] = A[i, 1]
        y[i] = work[i]
    end
end
