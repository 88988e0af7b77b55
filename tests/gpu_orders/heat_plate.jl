# A plate for many steps: several of them in one pass over the data.
#! sizes A=m,n B=m,n steps=s
#! run m=0 n=0 s=3
#! run m=3 n=3 s=1
#! run m=130 n=31 s=9
#! run m=67 n=140 s=18
using Tessella

@tessella function heat_plate!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            B[i, j] = 0.2f0 * (A[i, j] + A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1])
        end
        for j in 2:n-1, i in 2:m-1
            A[i, j] = B[i, j]
        end
    end
end
