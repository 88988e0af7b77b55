@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(B)
        @comp T t = 2 * A[i]
        @comp S B[i] = t + t
    end
end

@schedule f! begin
    constant(t)
end
