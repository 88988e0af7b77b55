# Means and spreads of columns: the lanes of a warp read the columns of its threads together.
@tessella function column_spreads!(v::Vector{Float64}, A::Matrix{Float64})
    m, n = size(A)
    for j in 1:n
        mean = 0.0
        for i in 1:m
            mean += A[i, j]
        end
        mean /= m
        s = 0.0
        for i in 1:m
            d = A[i, j] - mean
            s += d * d
        end
        v[j] = s / (m - 1)
    end
end
#! sizes v=n A=m,n
#! run m=0 n=3
#! run m=5 n=1
#! run m=70 n=131
