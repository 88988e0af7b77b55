# Nests that touch the same elements at the same points are one kernel: three are joined; one that reads neighbours of what
# they write stays apart with one that has other borders, and one that touches nothing of its neighbour's does.
#! sizes A=m,n B=m,n C=m,n D=m,n w=m
#! run m=0 n=0
#! run m=1 n=2
#! run m=33 n=5
#! run m=70 n=35
using Tessella

@tessella function joined_nests!(A::Matrix{Float64}, B::Matrix{Float64}, C::Matrix{Float64}, D::Matrix{Float64},
                                 w::Vector{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        B[i, j] = 2 * A[i, j] + w[i]
    end
    for j in 1:n, i in 1:m
        x = A[i, j] - 1
        C[i, j] = x * x
    end
    for l in 1:n, k in 1:m
        B[k, l] = B[k, l] + C[k, l]
    end
    for j in 2:n, i in 1:m
        A[i, j] = B[i, j] + B[i, j-1]
    end
    for j in 1:n-1, i in 1:m
        A[i, j] = A[i, j] * B[i, j]
    end
    for j in 1:n-1, i in 1:m
        D[i, j] = w[i]
    end
end
