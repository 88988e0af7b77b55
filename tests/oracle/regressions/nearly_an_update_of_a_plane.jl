#! target c
#! seed 17286747412738065468
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found with the recognition of updates broken by hand: two reads of Q at different places took each other's part.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,2}, Q::Array{Int64,1}, n::Int64)
    for i in 1:n
        @comp S1 B[mod1(Q[i], 3), mod1(Q[i], 3)] = (B[mod1(Q[i + 1], 3), mod1(Q[i], 3)] + A[i])
    end
    return nothing
end

@schedule f! begin
    reverse(S1, i)
end
