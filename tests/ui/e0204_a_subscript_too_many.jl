@tessella function rows!(total::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for i in 1:m, j in 1:n
        total[i, 1] += A[i, j]
    end
end
