# Variables of each column: they are few beside the matrix, so that sums and elements get nests of their own.
#! sizes A=m,n g=m
#! run m=1 n=1
#! run m=0 n=3
#! run m=3 n=0
#! run m=33 n=9
#! run m=64 n=32
#! run m=130 n=70
using Tessella

@tessella function normalized_columns!(A::Matrix{Float32}, g::Vector{Float32})
    m, n = size(A)
    @assert length(g) == m
    for j in 1:n
        s = 0.0f0
        for i in 1:m
            s += A[i, j]
        end
        mean = s / m
        v = 0.0f0
        for i in 1:m
            d = A[i, j] - mean
            v += d * d
        end
        r = 1.0f0 / sqrt(v / m + 1.0f-5)
        for i in 1:m
            A[i, j] = (A[i, j] - mean) * r * g[i]
        end
    end
    return nothing
end
