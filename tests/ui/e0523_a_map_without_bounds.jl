@tessella function f!(A::Vector{Float64}, B::Vector{Float64})
    v = zeros(length(A))
    for i in 1:length(A)
        @comp S v[i] = 2 * A[i]
    end
    for i in 1:length(A)
        @comp T A[i] = v[i] * v[i]
    end
    w = zeros(length(B))
    for i in 1:length(B)
        @comp U w[i] = 2 * B[i]
    end
    for i in 1:length(B)
        @comp V B[i] = w[i] * w[i]
    end
end

@schedule f! begin
    store_in(S, b, i -> i)
    store_in(U, b, i -> i)
end
