@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    s = 0.0
    for i in 1:n
        @comp S s += A[i]
        @comp R B[i] = s
    end
end

@schedule f! begin
    inline(S)
end
