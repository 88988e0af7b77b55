@tessella function f!(B::Vector{Float64}, T::Vector{Float64})
    n = length(T)
    for i in 2:n
        @comp R T[i] = 2.0
    end
    for i in 1:n
        @comp S B[i] = T[i]
    end
end

@schedule f! begin
    split(S, i, 8)
    compute_at(R, S, i0)
end
