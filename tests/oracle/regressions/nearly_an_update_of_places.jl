#! target c
#! seed 8156159632924857681
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found with the recognition of updates broken by hand: two reads of Q at different places took each other's part.
@tessella function f!(A::Array{Int64,1}, Q::Array{Int64,1}, n::Int64)
    for k in 1:n
        @comp S5 A[mod1(Q[1], 3)] = (A[mod1(Q[k], 3)] + 3)
    end
    return nothing
end

@schedule f! begin
    reverse(S5, k)
end
