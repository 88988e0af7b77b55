@tessella function f!(A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        line = zeros(m)
        for i in 1:m
            @comp S line[i] = 2 * A[i, j]
        end
        for i in 1:m
            @comp R A[i, j] = line[m + 1 - i]
        end
    end
end

@schedule f! begin
    parallel(S, j)
    store_in(S, lines, (j, i) -> (i, j % 4))
end
