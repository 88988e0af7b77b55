# A box of 49 points, each with a factor of its own.
#! with hexagonal((S, R), t, (j, i), 1, (4, 8))
#! with time_skew((S, R), t, (j, i), 2, (9, 9))
#! gpu space((S, R), t, (j, i), (4, 8))
#! gpu grid_sync((S, R), t, (j, i), (4, 8))
#! gpu overlapped(S, t, (j, i), 1, (8, 8))
#! gpu time_skew((S, R), t, (j, i), 2, (9, 9))
#! gpu hexagonal((S, R), t, (j, i), 1, (4, 8))
#! gpu hexagonal(S, t, 1, 3, 8, 32, 1)
#! refused E0490 hexagonal(S, t, 1, 3, 8, 32, 1)
#! gpu stream(S, t, 1, 4)
#! gpu stream(S, t, 2, 4, 16)
#! gpu stream(S, t, 3, 4, 5)
#! run m=7 n=7 steps=2
#! run m=139 n=19 steps=3
@tessella function box2d3r!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 4:n-3, i in 4:m-3
            @comp S B[i, j] = 0.0002f0 * A[i-3, j-3] + 0.0004f0 * A[i-2, j-3] + 0.0006f0 * A[i-1, j-3] + 0.0008f0 * A[i, j-3] +
                              0.001f0 * A[i+1, j-3] + 0.0012f0 * A[i+2, j-3] + 0.0014f0 * A[i+3, j-3] +
                              0.0016f0 * A[i-3, j-2] + 0.0018f0 * A[i-2, j-2] + 0.002f0 * A[i-1, j-2] + 0.0022f0 * A[i, j-2] +
                              0.0024f0 * A[i+1, j-2] + 0.0026f0 * A[i+2, j-2] + 0.0028f0 * A[i+3, j-2] +
                              0.003f0 * A[i-3, j-1] + 0.0032f0 * A[i-2, j-1] + 0.0034f0 * A[i-1, j-1] + 0.0036f0 * A[i, j-1] +
                              0.0038f0 * A[i+1, j-1] + 0.004f0 * A[i+2, j-1] + 0.0042f0 * A[i+3, j-1] +
                              0.0044f0 * A[i-3, j] + 0.0046f0 * A[i-2, j] + 0.0048f0 * A[i-1, j] + 0.75f0 * A[i, j] +
                              0.0052f0 * A[i+1, j] + 0.0054f0 * A[i+2, j] + 0.0056f0 * A[i+3, j] +
                              0.0058f0 * A[i-3, j+1] + 0.006f0 * A[i-2, j+1] + 0.0062f0 * A[i-1, j+1] + 0.0064f0 * A[i, j+1] +
                              0.0066f0 * A[i+1, j+1] + 0.0068f0 * A[i+2, j+1] + 0.007f0 * A[i+3, j+1] +
                              0.0072f0 * A[i-3, j+2] + 0.0074f0 * A[i-2, j+2] + 0.0076f0 * A[i-1, j+2] + 0.0078f0 * A[i, j+2] +
                              0.008f0 * A[i+1, j+2] + 0.0082f0 * A[i+2, j+2] + 0.0084f0 * A[i+3, j+2] +
                              0.0086f0 * A[i-3, j+3] + 0.0088f0 * A[i-2, j+3] + 0.009f0 * A[i-1, j+3] + 0.0092f0 * A[i, j+3] +
                              0.0094f0 * A[i+1, j+3] + 0.0096f0 * A[i+2, j+3] + 0.0098f0 * A[i+3, j+3]
        end
        for j in 4:n-3, i in 4:m-3
            @comp R A[i, j] = B[i, j]
        end
    end
end
