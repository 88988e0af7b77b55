@tessella function f!(A::Vector{Float64}, steps::Int)
    n = length(A)
    W = zeros(steps + 1, n)
    for i in 1:n
        @comp I W[1, i] = A[i]
    end
    for t in 1:steps, i in 2:n
        @comp S W[t+1, i] = W[t, i] + W[t, i-1]
    end
    for i in 1:n
        @comp O A[i] = W[steps+1, i]
    end
end

@schedule f! begin
    store_in(S, row, (t, i) -> (0, i))
end
