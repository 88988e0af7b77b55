#! target c
#! seed 11125807226031400685
# Found: refused for no documented cause
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,1}, Q::Array{Int64,1}, n::Int64)
    for i in 1:n
        @comp S1 B[mod1(Q[i], 3)] = B[mod1(Q[i], 3)] + A[i]
    end
    return nothing
end

@schedule f! begin
    cache_register(B, S1, i)
end
