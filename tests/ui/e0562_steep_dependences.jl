@tessella function f!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 2:steps, i in 4:n-3
        @comp S A[t, i] = A[t-1, i-3] + A[t-1, i+3]
    end
end

@schedule f! begin
    hexagonal(S, t, i, 2, 1)
end
