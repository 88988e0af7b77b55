# A tridiagonal solve for each column with work vectors outside of the loop: each column has its own, neighbours of threads side by side in
# memory, where no subscript is outside (for no rows, the last one reads what nothing stored).
#! sizes X=n,m D=n,m c=n
#! run n=1 m=1
#! run n=2 m=0
#! run n=33 m=35
#! run n=70 m=40
using Tessella

@tessella function batched_solves!(X::Matrix{Float64}, D::Matrix{Float64}, c::Vector{Float64})
    n, m = size(X)
    cp = zeros(n)
    dp = zeros(n)
    for j in 1:m
        cp[1] = c[1]
        dp[1] = D[1, j]
        for i in 2:n
            w = 4.0 - cp[i-1]
            cp[i] = c[i] / w
            dp[i] = (D[i, j] - dp[i-1]) / w
        end
        X[n, j] = dp[n]
        for i in n-1:-1:1
            X[i, j] = dp[i] - cp[i] * X[i+1, j]
        end
    end
    return nothing
end
