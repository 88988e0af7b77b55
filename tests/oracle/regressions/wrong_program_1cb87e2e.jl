#! target c
#! seed 11125807226031400685
# Found: wrong program
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,1}, m::Int64)
    n = size(B, 1)
    for i in 1:m
        if mod(i, 3) == 0
            @comp S2 A[i] *= (min(B[2*i], 1) + (A[i] * B[i]))
            @comp S3 s1 = (B[i] * A[i])
            for j in i + 1:m - 1
                @comp S4 s1 -= (B[i + 1] * (B[2*j - 2] * B[j + 1]))
            end
            @comp S5 A[i] = (s1 + 3)
        end
    end
    return nothing
end

@schedule f! begin
    tile(S2, i, 3)
end
