# Several statements update one element with `max` of integers, and read other elements of the table: an element gathers its parts in
# any order, once what they are made of is finished. Tessella's own order passes each element on as soon as it is finished.
#! run n=0
#! run n=1
#! run n=2
#! run n=66
#! run n=131
function fold!(table::Matrix{Int64}, bases::Vector{Int8}, n::Int)
    for i in n:-1:1, j in i+1:n
        @comp S0 table[i, j] = max(table[i, j], table[i, j-1])
        @comp S1 table[i, j] = max(table[i, j], table[i+1, j-1] + (bases[i] + bases[j] == 3))
        for k in i+1:j-1
            @comp S2 table[i, j] = max(table[i, j], table[i, k] + table[k+1, j])
        end
    end
end

@schedule fold! begin
    auto()
end
