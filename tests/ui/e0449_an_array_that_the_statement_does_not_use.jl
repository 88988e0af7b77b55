@tessella function f!(A::Matrix{Float64}, w::Vector{Float64}, B::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        for i in 1:m
            @comp R w[i] = 2 * A[i, j]
        end
        for i in 1:m
            @comp S A[i, j] = w[m+1-i]
        end
        for i in 1:m
            @comp Q B[i, j] = 1
        end
    end
end

@schedule f! begin
    privatize(w, Q, j)
end
