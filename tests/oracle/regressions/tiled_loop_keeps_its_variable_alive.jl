#! target c
#! seed 1
# Found: the loop program made the variable anew for each statement of one iteration.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,1}, m::Int64)
    for i in 1:m
        if mod(i, 3) == 0
            @comp S1 B[2*i] = A[i + 1]
            @comp S2 s1 = (B[i] * A[i])
            for j in i + 1:m - 1
                @comp S3 s1 -= B[j + 1]
            end
            @comp S4 A[i] = (s1 + 3)
        end
    end
    return nothing
end

@schedule f! begin
    tile(S2, i, 3)
end
