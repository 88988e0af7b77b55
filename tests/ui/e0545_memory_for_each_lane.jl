@tessella function f!(A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        row = zeros(m)
        for i in 1:m
            @comp S row[i] = A[i, j]
        end
        for i in 1:m
            @comp R B[i, j] = row[m - i + 1]
        end
    end
end

@schedule f! begin
    vectorize(S, j, 4)
    allocate(row, j)
end
