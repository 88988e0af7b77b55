# A time loop to the larger of two numbers, which no sum of sizes and constants bounds: a kernel for each step.
#! sizes A=m,n B=m,n steps=steps
#! run m=1 n=1 steps=0
#! run m=2 n=7 steps=3
#! run m=67 n=35 steps=0
#! run m=33 n=66 steps=5
using Tessella

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
    return nothing
end
