# Several points a thread, along a line and in a plane; threads run along the contiguous axis.
#! sizes x=n y=n A=m,n B=m,n
#! run m=0 n=3
#! run m=1 n=1
#! run m=33 n=31
#! run m=2 n=1025
using Tessella

@tessella function points!(x::Vector{Float64}, y::Vector{Float64}, A::Matrix{Float64}, B::Matrix{Float64})
    m, n = size(A)
    for i in 1:n
        y[i] += 2x[i]
    end
    for i in 2:m-1, j in 2:n-1
        B[i, j] = (A[i-1, j] + A[i+1, j]) + (A[i, j-1] + A[i, j+1])
    end
end
