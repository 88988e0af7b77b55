# Solvers along lines with work arrays, whose first elements are what they are filled with: each line has its own.
@tessella function lines_solved!(v::Matrix{Float64}, u::Matrix{Float64}, l::Float64)
    m, n = size(u)
    p = zeros(m)
    q = zeros(m)
    for j in 2:n-1
        p[1] = 0.0
        q[1] = u[1, j]
        for i in 2:m-1
            d = 1 + 2l - l * p[i-1]
            p[i] = l / d
            q[i] = (u[i, j] + l * q[i-1]) / d
        end
        for i in m-1:-1:2
            v[i, j] = p[i] * v[i+1, j] + q[i]
        end
    end
end
#! sizes v=m,n u=m,n l=m
#! run m=2 n=3
#! run m=17 n=5
#! run m=40 n=70
