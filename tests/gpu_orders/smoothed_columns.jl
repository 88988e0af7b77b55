# A recursive filter down and up the columns of a stack of pictures, in place, which looks at neighbours in the same column and the next ones.
#! sizes y=m,n,p x=m,n,p w=m
#! run m=3 n=3 p=1
#! run m=2 n=40 p=2
#! run m=67 n=36 p=2
using Tessella

@tessella function smoothed_columns!(y::Array{Float32,3}, x::Array{Float32,3}, w::Vector{Float32})
    m, n, p = size(x)
    @assert size(y) == (m, n, p) && length(w) == m
    for k in 1:p, j in 2:n-1
        for i in 2:m-1
            y[i, j, k] = 0.5f0 * y[i-1, j, k] + w[i] * (x[i-1, j, k] + x[i+1, j, k] + x[i, j-1, k] + x[i, j+1, k])
        end
        for i in m-1:-1:2
            y[i, j, k] += 0.25f0 * y[i+1, j, k]
        end
    end
    return nothing
end
