@tessella function blur!(out::Matrix{Float32}, A::Matrix{Float32}, w::Matrix{Float32})
    m, n = size(A)
    for j in 1:n-4, i in 1:m-4
        for q in 1:5, p in 1:5
            @comp S out[i, j] += w[p, q] * A[i+p-1, j+q-1]
        end
    end
end
