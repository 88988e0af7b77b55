# What one iteration of the outer loop counts, the next one reads: the counts are no sums of blocks, though each loop adds up.
#! sizes h=k y=k x=n z=n
#! within x=k z=k
#! run n=3100 k=2
#! run n=5 k=3
using Tessella

@tessella function counted_in_phases!(h::Vector{Int64}, y::Vector{Int64}, x::Vector{Int64}, z::Vector{Int64})
    for t in 1:2, p in eachindex(x)
        if t == 1
            y[z[p]] += h[1]
        else
            h[x[p]] += 1
        end
    end
    return nothing
end
