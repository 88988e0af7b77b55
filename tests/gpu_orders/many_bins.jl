# More elements than a block has room for, of constant size: threads update them in memory.
#! sizes most=1 x=n
#! run n=0
#! run n=70
using Tessella

@tessella function many_bins!(most::Vector{Int32}, x::Vector{Int32})
    h = zeros(Int32, 20000)
    for i in eachindex(x)
        h[mod1(x[i], 20000)] += Int32(1)
    end
    for k in 1:20000
        most[1] = max(most[1], h[k])
    end
    return nothing
end
