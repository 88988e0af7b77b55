@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S A[i] = B[i] + 1
    end
    for i in 1:n
        @comp R B[i] = 2A[i]
    end
end

@schedule f! begin
    inline(S)
end
