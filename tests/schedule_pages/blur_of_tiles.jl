@tessella function blurred!(out::Matrix{Float32}, A::Matrix{Float32})
    m, n = size(A)
    T = zeros(Float32, m, n)
    for j in 1:n, i in 2:m-1
        @comp R T[i, j] = A[i-1, j] + A[i, j] + A[i+1, j]
    end
    for j in 2:n-1, i in 2:m-1
        @comp S out[i, j] = T[i, j-1] + T[i, j] + T[i, j+1]
    end
end
