@tessella function f!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        w = zeros(m)
        for i in 1:m
            @comp R w[i] = 2 * A[i, j]
        end
        for i in 1:m
            @comp S A[i, j] = w[m+1-i]
        end
    end
end

@schedule f! begin
    privatize(w, R, j)
end
