@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S w = A[i]
        @comp Q A[i] = 0
        @comp R B[i] = w
    end
end

@schedule f! begin
    inline(S)
end
