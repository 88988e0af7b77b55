#! draw
#! size n=8 steps=3
@tessella function jacobi1d!(A, B, steps)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
end
