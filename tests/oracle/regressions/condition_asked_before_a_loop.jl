#! target c
#! seed 13566033652135044056
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Leading parts of a predicate that are asked before a loop are known inside of it.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,2}, n::Int64, m::Int64)
    if B[1, 1] <= 0
        for j in 1:n
            @comp S2 B[1, j] = A[j]
        end
    end
    return nothing
end
