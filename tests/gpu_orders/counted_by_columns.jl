# The same with counts in a matrix of more axes than what reads them has.
#! sizes h=k,2 y=k x=n
#! within x=k
#! run n=3100 k=2
#! run n=5 k=3
using Tessella

@tessella function counted_by_columns!(h::Matrix{Int64}, y::Vector{Int64}, x::Vector{Int64})
    for t in 1:2, p in eachindex(x)
        if t == 1
            y[x[p]] += h[1, 2]
        else
            h[x[p], 1] += 1
        end
    end
    return nothing
end
