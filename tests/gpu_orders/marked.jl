# Elements that are named anywhere are marked, however often they are: whoever comes last stores the same.
#! sizes mark=m idx=n
#! within idx=m
#! run m=1 n=1
#! run m=4 n=0
#! run m=50 n=300
using Tessella

@tessella function marked!(mark::Vector{Int64}, idx::Vector{Int})
    for i in eachindex(idx)
        mark[idx[i]] = 1
    end
    return nothing
end
