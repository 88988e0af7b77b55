@tessella function f!(s::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[i] += A[i, j]
    end
end

@schedule f! begin
    rfactor(S, j, 8)
end
