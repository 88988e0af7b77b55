@tessella function f!(s::Vector{Float64}, A::Vector{Float64})
    for i in 1:length(A)
        @comp S s[1] = max(s[1], A[i])
    end
end

@schedule f! begin
    rfactor(S, i, 8)
end
