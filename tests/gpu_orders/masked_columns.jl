# Columns that go on or begin anew where data say so.
#! sizes y=m,n x=m,n last=n
#! run m=1 n=1
#! run m=70 n=35
using Tessella

@tessella function masked_columns!(y::Matrix{Int64}, last::Vector{Int64}, x::Matrix{Int64})
    m, n = size(x)
    @assert size(y) == (m, n) && length(last) == n
    for j in 1:n
        last[j] = 0
        for i in 1:m
            if x[i, j] > 3
                last[j] = x[i, j]
            else
                y[i, j] = last[j] - x[i, j]
            end
        end
    end
    return nothing
end
