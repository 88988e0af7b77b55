# Forward substitution for many right-hand sides: columns beside one another, rows and terms along diagonals of tiles.
#! sizes B=m,n L=m,m
#! run m=1 n=1
#! run m=34 n=5
#! run m=71 n=37
using Tessella

@tessella function triangular_solve!(B::Matrix{Float64}, L::Matrix{Float64})
    m, n = size(B)
    for j in 1:n
        for i in 1:m
            for k in 1:i-1
                B[i, j] -= L[i, k] * B[k, j]
            end
            B[i, j] /= L[i, i]
        end
    end
end
