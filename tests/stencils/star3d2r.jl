# A star of radius 2 in space.
#! with space((S, R), t, (k, j, i), (2, 4, 8))
#! gpu space((S, R), t, (k, j, i), (2, 4, 8))
#! run l=7 m=9 n=8 steps=3
@tessella function star3d2r!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 3:n-2, j in 3:m-2, i in 3:l-2
            @comp S B[i, j, k] = 0.5f0 * A[i, j, k] +
                                 0.05f0 * (A[i-1, j, k] + A[i+1, j, k] + A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1]) +
                                 0.025f0 * (A[i-2, j, k] + A[i+2, j, k] + A[i, j-2, k] + A[i, j+2, k] + A[i, j, k-2] + A[i, j, k+2])
        end
        for k in 3:n-2, j in 3:m-2, i in 3:l-2
            @comp R A[i, j, k] = B[i, j, k]
        end
    end
end
