#! target cuda
@tessella function heat!(A::Matrix{Float64}, B::Matrix{Float64}, steps::Int)
    m, n = size(A)
    for t in 1:max(steps, 1)
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            A[i, j] = B[i, j]
        end
    end
end

@schedule heat! begin
    stream(S, t, 2, 2)
end
