@tessella function f!(h::Vector{Int64}, bins::Vector{Int64}, A::Vector{Int64})
    for i in 1:length(A)
        @comp S h[bins[i]] += A[i]
    end
end

@schedule f! begin
    rfactor(S, i, 8)
end
