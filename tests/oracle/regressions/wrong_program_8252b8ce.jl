#! target c
#! seed 11125807226031400685
# Found: wrong program
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,1}, n::Int64, m::Int64)
    for i in 1:m
        if mod(i, 3) == 0
            @comp S2 A[i] = B[i]
            @comp S3 s1 = B[i]
            @comp S5 A[i] = s1
        end
    end
    return nothing
end

@schedule f! begin
    tile(S2, i, 3)
end
