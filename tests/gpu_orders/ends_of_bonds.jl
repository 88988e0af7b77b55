# Forces on both ends of bonds and energies beside them: code for arrays of blocks would take too much, updates in memory do not.
#! sizes f=n,3 e=n lo=n i=b j=b k=b
#! within i=n j=n
#! run b=0 n=3
#! run b=1 n=1
#! run b=4100 n=3
#! run b=700 n=65
using Tessella

@tessella function ends_of_bonds!(f::Matrix{Int64}, e::Vector{Int64}, lo::Vector{Int32}, i::Vector{Int}, j::Vector{Int}, k::Vector{Int32})
    for b in eachindex(i, j, k)
        a, c = i[b], j[b]
        if a != c
            d = Int64(k[b]) * (a - c)
            for x in 1:3
                f[a, x] += d * x
                f[c, x] -= d * x
            end
            e[a] += abs(d)
            lo[c] = min(lo[c], k[b])
        else
            e[c] -= 1
        end
    end
    return nothing
end
