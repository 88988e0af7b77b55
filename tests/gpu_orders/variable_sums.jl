# Sums over rows and columns that are kept in variables.
#! sizes columns=n rows=m A=m,n x=m y=n
#! run m=0 n=3
#! run m=3 n=0
#! run m=1 n=1
#! run m=67 n=130
#! run m=128 n=64
using Tessella

@tessella function variable_sums!(
    columns::Vector{Float64},
    rows::Vector{Float64},
    A::Matrix{Float64},
    x::Vector{Float64},
    y::Vector{Float64},
)
    m, n = size(A)
    for j in 1:n
        s = 0.0
        for i in 1:m
            s += A[i, j] * x[i]
        end
        columns[j] = s
    end
    for i in 1:m
        s = 0.0
        for j in 1:n
            s += A[i, j] * y[j]
        end
        rows[i] = s
    end
end
