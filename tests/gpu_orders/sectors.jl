# Arrays of the GPU whose columns are whole sectors: one that the function makes, and arguments that many steps go through.
#! sizes A=m,n B=m,n C=m,n
#! run m=0 n=0
#! run m=3 n=2
#! run m=33 n=5
#! run m=65 n=9
using Tessella

@tessella function sectors!(C::Matrix{Float32}, A::Matrix{Float32}, B::Matrix{Float32})
    m, n = size(A)
    sums = Matrix{Float32}(undef, m, n)
    for j in 1:n, i in 1:m
        sums[i, j] = A[i, j] + B[i, j]
    end
    for j in 2:n-1, i in 1:m
        C[i, j] = sums[i, j-1] + sums[i, j] + sums[i, j+1]
    end
    for t in 1:40
        for j in 1:n, i in 1:m
            B[i, j] = 0.5f0 * A[i, j]
        end
        for j in 1:n, i in 1:m
            A[i, j] = B[i, j] + C[2, 2]
        end
    end
end
