@tessella function total!(B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp S A[i] = 2A[i]
    end
    for i in 1:n
        @comp R B[i] = A[n-i+1]
    end
end

@schedule total! begin
    fuse(S, R, i; shift=:auto)
end
