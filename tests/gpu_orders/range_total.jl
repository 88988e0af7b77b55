# The first element of the sum is an argument, so that threads without elements lie between others: partial results in three levels in memory.
#! sizes x=100 out=1 first=a last=b
#! run a=1 b=100
#! run a=7 b=6
#! run a=40 b=90
using Tessella

@tessella function total!(out::Vector{Int64}, x::Vector{Int64}, first::Int64, last::Int64)
    s = 0
    for i in first:last
        s += x[i]
    end
    out[1] = s
    return nothing
end
