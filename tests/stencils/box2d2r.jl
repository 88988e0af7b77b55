# A box of 25 points, each with a factor of its own.
#! with space((S, R), t, (j, i), (4, 8))
#! gpu space((S, R), t, (j, i), (4, 8))
#! gpu hexagonal(S, t, 1, 2, 4, 32, 1)
#! run m=9 n=11 steps=3
#! run m=29 n=31 steps=9
@tessella function box2d2r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 3:n-2, i in 3:m-2
            @comp S B[i, j] = 0.001f0 * A[i-2, j-2] + 0.002f0 * A[i-1, j-2] + 0.003f0 * A[i, j-2] + 0.004f0 * A[i+1, j-2] + 0.005f0 * A[i+2, j-2] +
                              0.006f0 * A[i-2, j-1] + 0.007f0 * A[i-1, j-1] + 0.008f0 * A[i, j-1] + 0.009f0 * A[i+1, j-1] + 0.01f0 * A[i+2, j-1] +
                              0.011f0 * A[i-2, j] + 0.012f0 * A[i-1, j] + 0.7f0 * A[i, j] + 0.014f0 * A[i+1, j] + 0.015f0 * A[i+2, j] +
                              0.016f0 * A[i-2, j+1] + 0.017f0 * A[i-1, j+1] + 0.018f0 * A[i, j+1] + 0.019f0 * A[i+1, j+1] + 0.02f0 * A[i+2, j+1] +
                              0.021f0 * A[i-2, j+2] + 0.022f0 * A[i-1, j+2] + 0.023f0 * A[i, j+2] + 0.024f0 * A[i+1, j+2] + 0.025f0 * A[i+2, j+2]
        end
        for j in 3:n-2, i in 3:m-2
            @comp R A[i, j] = B[i, j]
        end
    end
end
