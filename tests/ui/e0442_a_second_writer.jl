@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    T = zeros(n)
    for i in 2:n
        @comp S T[i] = A[i] + 1
    end
    for i in 1:n
        @comp R B[i] = T[i]
    end
end

@schedule f! begin
    inline(S)
end
