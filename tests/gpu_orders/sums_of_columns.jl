# Sums and maxima of columns in any order: a block has each of a few columns, a thread each of many short ones.
#! sizes A=m,n sums=n most=n
#! run m=0 n=3
#! run m=1 n=1
#! run m=300 n=3
#! run m=1030 n=2
#! run m=2 n=1057
using Tessella

@tessella function sums_of_columns!(sums::Vector{Float32}, most::Vector{Float32}, A::Matrix{Float32})
    m, n = size(A)
    @inbounds for j in 1:n
        s = 0f0
        @simd for i in 1:m
            s += floor(A[i, j])
        end
        sums[j] = s
    end
    @inbounds for j in 1:n
        p = -Inf32
        for i in 1:m
            p = max(p, A[i, j])
        end
        most[j] = p
    end
    return nothing
end
