@tessella function f!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 2:steps, i in 1:n
        @comp S A[t, i] = A[t-1, n+1-i]
    end
end

@schedule f! begin
    hexagonal(S, t, i, 3, 4)
end
