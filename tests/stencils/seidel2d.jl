# PolyBench's seidel-2d: each point sees what this step wrote, so only skewed tiles fit.
#! with time_skew(S, t, (j, i), 2, (6, 8))
#! with time_skew(S, t, (j, i), 4, (6, 8))
#! gpu time_skew(S, t, (j, i), 2, (6, 8))
#! gpu time_skew(S, t, (j, i), 3, (6, 40))
#! run n=4 steps=2
#! run n=21 steps=6
@tessella function seidel2d!(A::Matrix{Float64}, steps::Int)
    n = size(A, 1)
    for t in 1:steps
        for j in 2:n-1, i in 2:n-1
            @comp S A[i, j] = (A[i-1, j-1] + A[i, j-1] + A[i+1, j-1] + A[i-1, j] + A[i, j] + A[i+1, j] +
                               A[i-1, j+1] + A[i, j+1] + A[i+1, j+1]) / 9.0
        end
    end
end
