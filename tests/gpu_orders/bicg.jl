# Sums along rows and down columns of one matrix in one pair of loops.
#! sizes s=n q=m A=m,n p=n r=m
#! run m=0 n=2
#! run m=1 n=1
#! run m=63 n=65
#! run m=129 n=64
#! run m=70 n=131
using Tessella

@tessella function bicg!(s::Vector{Float64}, q::Vector{Float64}, A::Matrix{Float64}, p::Vector{Float64}, r::Vector{Float64})
    n, m = size(A)
    for j in 1:m
        s[j] = 0
        for i in 1:n
            s[j] += r[i] * A[i, j]
            q[i] += A[i, j] * p[j]
        end
    end
end
