@tessella function f!(s::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        @simd for i in 1:m
            @comp S s[j] += A[i, j]
        end
    end
end

@schedule f! begin
    parallel(S, i)
end
