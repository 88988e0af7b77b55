# Seven points in space: planes stream.
#! sizes A=l,m,n B=l,m,n steps=s
#! run l=2 m=3 n=3 s=1
#! run l=67 m=13 n=21 s=5
using Tessella

@tessella function heat_space!(A::Array{Float32,3}, B::Array{Float32,3}, steps::Int)
    l, m, n = size(A)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            B[i, j, k] = 0.4f0 * A[i, j, k] + 0.1f0 * (A[i-1, j, k] + A[i+1, j, k] +
                                                       A[i, j-1, k] + A[i, j+1, k] + A[i, j, k-1] + A[i, j, k+1])
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            A[i, j, k] = B[i, j, k]
        end
    end
end
