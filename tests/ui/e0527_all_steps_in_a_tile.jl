@tessella function evolve!(A::Matrix{Float64})
    steps, n = size(A)
    for t in 2:steps
        for i in 2:n-1
            @comp S A[t, i] = 0.25 * A[t-1, i-1] + 0.5 * A[t-1, i] + 0.25 * A[t-1, i+1]
        end
    end
end

@schedule evolve! begin
    overlapped(S, t, i, 4, 32)
end
