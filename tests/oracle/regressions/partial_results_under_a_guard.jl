#! target c
#! seed 1
#! sizes 6
# Found: wrong program. Partial results were added up although nothing had set the result.
@tessella function f!(A::Array{Int64,2}, B::Array{Int64,2}, n::Int64)
    @comp S1 s1 = 0
    if s1 > A[1, 1]
        @comp S4 s2 = B[1, 0]
        for i in 1:n
            @comp S5 s2 *= B[0, i]
        end
    end
    return nothing
end

@schedule f! begin
    vectorize(S5, i, 8)
end
