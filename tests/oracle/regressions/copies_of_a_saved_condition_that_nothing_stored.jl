#! target c
#! seed 9889044814283572339
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: wrong program
@tessella function f!(A::Array{Float64,1}, B::Array{Float64,1}, C::Array{Float64,1}, n::Int64, m::Int64)
    for i in 1:n
        (A[i] >= 1.75) && break
        if B[i] > B[i]
            for j in 1:m
                @comp S2 s1 = C[1]
                @comp S4 B[i] = s1
            end
        end
    end
    return nothing
end

@schedule f! begin
    cache_shared(guard_2, S4, j)
end
