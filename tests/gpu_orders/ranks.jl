# Pages hand their ranks on along links, until the ranks stay: which pages a link joins is read in each turn, and tested there.
#! sizes rank=pages from=links to=links most=7
#! within from=pages to=pages
#! run pages=1 links=1
#! run pages=5 links=0
#! run pages=31 links=90
using Tessella

@tessella function ranks!(rank::Vector{Float64}, from::Vector{Int}, to::Vector{Int}, most::Int)
    pages = length(rank)
    links = zeros(Int, pages)
    for e in eachindex(from)
        links[from[e]] += 1
    end
    next = similar(rank)
    for turn in 1:most
        next .= 0.15 / pages
        for e in eachindex(from, to)
            next[to[e]] += 0.85 * rank[from[e]] / links[from[e]]
        end
        change = 0.0
        for p in 1:pages
            change = max(change, abs(next[p] - rank[p]))
        end
        rank .= next
        change < 1e-9 && break
    end
    return nothing
end
