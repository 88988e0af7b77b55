# The most base pairs that a strand of RNA can fold into, by Nussinov's dynamic programming
using Tessella

@tessella function kernel_nussinov!(table, bases)
    n = length(bases)
    for i in n:-1:1, j in i+1:n
        table[i, j] = max(table[i, j], table[i, j-1])
        table[i, j] = max(table[i, j], table[i+1, j])
        if i < j - 1
            table[i, j] = max(table[i, j], table[i+1, j-1] + (bases[i] + bases[j] == 3))
        else
            table[i, j] = max(table[i, j], table[i+1, j-1])
        end
        for k in i+1:j-1
            table[i, j] = max(table[i, j], table[i, k] + table[k+1, j])
        end
    end
    return table
end

nussinov_inputs(::Type{T}, n) where {T} = (zeros(T, n, n), Int8[mod(i, 4) for i in 1:n])
