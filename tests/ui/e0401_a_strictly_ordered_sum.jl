@tessella function total!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[1] += A[i, j]
    end
end

@schedule total! begin
    interchange(S, i, j)
end
