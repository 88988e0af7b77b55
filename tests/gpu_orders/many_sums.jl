# Sums over the columns of many matrices, started and used where they are: each matrix has blocks of its own.
#! sizes y=m,b A=m,p,b x=p,b
#! run m=0 b=1 p=1
#! run m=1 b=1 p=1
#! run m=17 b=3 p=65
#! run m=65 b=2 p=130
using Tessella

@tessella function many_sums!(y::Matrix{Float64}, A::Array{Float32,3}, x::Matrix{Float64})
    m, p, n = size(A)
    for b in 1:n, i in 1:m
        acc = 0.0
        for k in 1:p
            acc += A[i, k, b] * x[k, b]
        end
        y[i, b] = 2 * acc
    end
end
