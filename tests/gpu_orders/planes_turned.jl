# Each plane of an array turned: tiles pass through shared memory, whose columns are padded.
#! sizes A=l,m,n B=m,l,n
#! run l=1 m=1 n=1
#! run l=0 m=3 n=2
#! run l=33 m=2 n=35
#! run l=32 m=5 n=64
#! run l=3 m=37 n=40
using Tessella

@tessella function planes_turned!(B::Array{Float64,3}, A::Array{Float64,3})
    l, m, n = size(A)
    for k in 1:n, j in 1:m, i in 1:l
        B[j, i, k] = A[i, j, k]
    end
    return nothing
end
