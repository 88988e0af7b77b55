#! target cuda
@tessella function heat!(A::Matrix{Float64}, B::Matrix{Float64}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

@schedule heat! begin
    stream(S, t, 4294967295)
end
