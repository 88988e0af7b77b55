# Sums that read what later rows overwrite: tiles of rows and terms along diagonals, columns beside one another, and a tile of A in shared memory.
#! sizes B=m,n A=m,m α=9
#! run m=0 n=3
#! run m=1 n=1
#! run m=9 n=7
#! run m=32 n=5
#! run m=71 n=37
using Tessella

@tessella function old_values!(B::Matrix{Float64}, A::Matrix{Float64}, α::Float64)
    m, n = size(B)
    for j in 1:n, i in 1:m
        for k in i+1:m
            B[i, j] += A[k, i] * B[k, j]
        end
        B[i, j] *= α
    end
end
