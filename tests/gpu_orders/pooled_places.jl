# Places of the largest of several candidates, an `Int` that narrower arrays take: what bounds it are the loops.
#! sizes out=n place=n x=n,k
#! run n=1 k=1
#! run n=0 k=3
#! run n=33 k=0
#! run n=300 k=5
using Tessella

@tessella function largest_places!(out::Vector{Float32}, place::Vector{Int32}, x::Matrix{Float32})
    for i in axes(x, 1)
        best = typemin(Float32)
        at = 0
        for c in axes(x, 2)
            if x[i, c] > best
                best = x[i, c]
                at = c
            end
        end
        out[i] = best
        place[i] = at
    end
    return nothing
end
