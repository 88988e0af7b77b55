# A matrix read across its columns: the tile of a block passes through shared memory.
#! sizes B=n,m A=m,n x=3
#! run m=0 n=2
#! run m=1 n=1
#! run m=32 n=32
#! run m=31 n=97
#! run m=70 n=65
using Tessella

@tessella function turned!(B::Matrix{Float32}, A::Matrix{Float32}, x::Float32)
    n, m = size(B)
    for i in 1:m, j in 1:n
        B[j, i] = A[i, j] * x
    end
end
