# Five points, steps from array to array and back, tiles in two dimensions.
#! run m=0 n=0 steps=2
#! run m=3 n=3 steps=4
#! run m=13 n=19 steps=7
#! run m=23 n=18 steps=8
@tessella function heat_2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int64)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S B[i, j] = 0.25f0 * (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            @comp R A[i, j] = B[i, j]
        end
    end
end

@schedule heat_2d! begin
    overlapped(S, t, (j, i), 3, (6, 8))
    vectorize(S, i, 8)
    vectorize(R, i, 8)
end
