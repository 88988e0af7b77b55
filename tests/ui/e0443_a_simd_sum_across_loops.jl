@tessella function f!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        @simd for i in 1:m
            @comp S s[1] += A[i, j]
        end
    end
end

@schedule f! begin
    rfactor(S, j, 8)
end
