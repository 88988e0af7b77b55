#! target cuda
@tessella function total!(s::Vector{Int64}, A::Matrix{Int64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S s[1] += A[i, j]
    end
end

@schedule total! begin
    interchange(S, i, j)
    gpu(S, i, j)
end
