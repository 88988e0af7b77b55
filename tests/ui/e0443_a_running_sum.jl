@tessella function f!(B::Vector{Int64}, s::Vector{Int64}, A::Vector{Int64})
    for i in 1:length(A)
        @comp S s[1] += A[i]
        @comp R B[i] = s[1]
    end
end

@schedule f! begin
    rfactor(S, i, 8)
end
