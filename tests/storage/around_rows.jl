# Neighbours round the matrix and inside of it: the middle of a row asks nothing.
#! target c
#! sizes A=m,n B=m,n
using Tessella

@tessella function around_rows!(B::Matrix{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n, i in 1:m
        @comp S B[i, j] = A[mod1(i - 1, m), j] - A[i, min(j + 1, n)] * (i < m ? A[i+1, j] : 0.5)
    end
    return nothing
end

@schedule around_rows! begin
    parallel(S, j); vectorize(S, i, 4)
end

function around_rows_inputs(::Type{T}, n) where {T}
    m = n + 2
    return fill(T(NaN), m, n), T[mod(7i + 3j * i, 11) / 11 - 0.5 for i in 1:m, j in 1:n]
end
