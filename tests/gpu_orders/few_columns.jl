# Sums of at most 32 columns, of rows without bound and of at most 32 rows: a loop over blocks has one turn, and one tile is none.
#! sizes A=m,n B=k,m o=n p=m
#! run m=1 n=1 k=1
#! run m=0 n=3 k=2
#! run m=70 n=9 k=5
#! run m=65 n=32 k=32
using Tessella

@tessella function few_columns!(A::Matrix{Float64}, B::Matrix{Float64}, o::Vector{Float64}, p::Vector{Float64})
    m, n = size(A)
    k = size(B, 1)
    @assert length(o) == n && n <= 32 && size(B, 2) == m && length(p) == m && k <= 32
    for j in 1:n
        o[j] = 0.0
        for i in 1:m
            o[j] += A[i, j]
        end
    end
    for j in 1:m
        p[j] = 0.0
        for i in 1:k
            p[j] += B[i, j]
        end
    end
    return nothing
end
