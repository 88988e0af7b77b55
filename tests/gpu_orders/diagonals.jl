# Both loops carry dependences: threads run through diagonals, and sum up inside.
#! sizes table=n,n
#! run n=0
#! run n=2
#! run n=3
#! run n=71
using Tessella

@tessella function diagonals!(table::Matrix{Float64})
    n = size(table, 1)
    for i in n:-1:1, j in i+1:n
        table[i, j] = max(table[i, j], table[i, j-1])
        if i < n
            table[i, j] = max(table[i, j], table[i+1, j])
        end
        for k in i+1:j-1
            table[i, j] = max(table[i, j], table[i, k] + table[k+1, j])
        end
    end
end
