# A tridiagonal solve down each column and up again: tiles of what is read are under way, what is written comes back by tiles, too.
#! sizes x=m,n a=m,n b=m,n c=m,n d=m,n
#! run m=1 n=1
#! run m=2 n=40
#! run m=35 n=5
#! run m=50 n=33
using Tessella

@tessella function tridiagonal_columns!(x::Matrix{Float64}, a::Matrix{Float64}, b::Matrix{Float64}, c::Matrix{Float64}, d::Matrix{Float64})
    m, n = size(x)
    @assert size(a) == (m, n) && size(b) == (m, n) && size(c) == (m, n) && size(d) == (m, n)
    cp = zeros(Float64, m, n)
    dp = zeros(Float64, m, n)
    for j in 1:n
        cp[1, j] = c[1, j] / b[1, j]
        dp[1, j] = d[1, j] / b[1, j]
        for i in 2:m
            w = b[i, j] - a[i, j] * cp[i-1, j]
            cp[i, j] = c[i, j] / w
            dp[i, j] = (d[i, j] - a[i, j] * dp[i-1, j]) / w
        end
        x[m, j] = dp[m, j]
        for i in m-1:-1:1
            x[i, j] = dp[i, j] - cp[i, j] * x[i+1, j]
        end
    end
    return nothing
end
