@tessella function mirror!(A::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps, i in 1:n
        @comp S A[i] = A[n-i+1] + 1
    end
end

@schedule mirror! begin
    skew(S, t, i, :auto)
end
