#! target cuda
#! seed 1
#! sizes 6
# Found: wrong program. The rest of a stream read a buffer that nothing had stored.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,1}, n::Int64, m::Int64)
    for t in 1:2
        for i in 2:n
            @comp S1 A[i] = B[i]
        end
        for i in 1:n
            @comp S2 B[i] = A[i]
        end
    end
    return nothing
end

@schedule f! begin
    stream(S1, t, 4, 2, 7)
end
