@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(A)
        @comp S A[i] = 2
    end
    for i in 1:length(B)
        @comp R B[i] = 3
    end
end

@schedule f! begin
    cache_register(B, S, i)
end
