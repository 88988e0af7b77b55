@tessella function blurred!(out::Vector{Float32}, A::Vector{Float32})
    n = length(A)
    T = zeros(Float32, n)
    for i in 2:n-1
        @comp blur_x T[i] = A[i-1] + A[i] + A[i+1]
    end
    for i in 3:n-2
        @comp blur_y out[i] = T[i-1] + T[i] + T[i+1]
    end
end
