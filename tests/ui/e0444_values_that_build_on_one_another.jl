@tessella function f!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    T = similar(A)
    T[1] = A[1]
    for i in 2:n
        @comp R T[i] = T[i-1] + A[i]
    end
    for i in 1:n
        @comp S B[i] = T[i]
    end
end

@schedule f! begin
    split(S, i, 8)
    compute_at(R, S, i0)
end
