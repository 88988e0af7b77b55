# Counts and least values by an index that is data, under a condition: threads update integers in one piece.
#! sizes h=k least=k x=m,n idx=m,n
#! within idx=k
#! run m=0 n=3 k=5
#! run m=1 n=1 k=1
#! run m=67 n=5 k=7
using Tessella

@tessella function histogram!(h::Vector{Int64}, least::Vector{Int32}, x::Matrix{Int32}, idx::Matrix{Int64})
    for j in axes(x, 2), i in axes(x, 1)
        if x[i, j] != 3
            h[idx[i, j]] += 2
        end
        least[idx[i, j]] = min(least[idx[i, j]], x[i, j])
    end
    h[1] -= 1
end
