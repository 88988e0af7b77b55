# Arrays that are used in a part only: one plane, a row that lies in steps, the places inside of a border, two columns, and places that
# data decide about.
#! sizes P=m,n,p Q=m,n,3 R=3,m,n,2 A=m,n B=q,n C=m,n k=k l=l
#! run m=0 n=3 p=2 q=0 k=1 l=2
#! run m=1 n=1 p=1 q=1 k=1 l=1
#! run m=2 n=7 p=3 q=9 k=3 l=1
#! run m=35 n=33 p=3 q=35 k=2 l=3
#! run m=33 n=40 p=4 q=34 k=3 l=3
using Tessella

@tessella function parts!(
    P::Array{Float64,3}, Q::Array{Float64,3}, R::Array{Float64,4}, A::Matrix{Float64}, B::Matrix{Float64}, C::Matrix{Float64},
    k::Int64, l::Int64,
)
    m, n = size(A)
    for j in 1:n, i in 1:m
        P[i, j, 1] = 2 * Q[i, j, k]
    end
    for j in 1:n, i in 1:m
        R[l, i, j, 2] = R[k, i, j, 1] + 1
    end
    for j in 2:n-1, i in 2:m-1
        B[i, j] = A[i-1, j] + A[i+1, j]
    end
    for i in 1:m
        if Q[i, 1, l] > 0
            C[i, 1] = 3 * Q[i, 1, l]
        end
    end
end
