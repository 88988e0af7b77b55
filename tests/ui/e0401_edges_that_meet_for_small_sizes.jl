#! target cuda
@tessella function f!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = A[i-1, j] + A[i+1, j]
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
        for j in 1:n
            @comp W A[1, j] = A[2, j]
            @comp E A[m, j] = A[m-1, j]
        end
    end
end

@schedule f! begin
    time_skew(S, t, (j, i), 2, (8, 8))
end
