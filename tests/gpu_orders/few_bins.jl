# Updates of few elements: blocks add them up in shared memory, for sizes that make many updates of each; else threads update the result itself.
#! sizes count=k most=k weights=points place=points
#! within place=k
#! run points=3100 k=3
#! run points=1100 k=1
#! run points=600 k=2
#! run points=0 k=2
using Tessella

@tessella function few_bins!(count::Vector{Int64}, most::Vector{Int32}, weights::Vector{Int32}, place::Vector{Int64})
    for p in eachindex(place)
        count[place[p]] += 1
        most[place[p]] = max(most[place[p]], weights[p])
    end
    return nothing
end
