#! target c
#! seed 1
# Found: the variable lived for one iteration, but the shift moves its last use into a later one.
@tessella function f!(A::Array{Float64,1}, B::Array{Float64,1}, n::Int64)
    for i in n:-2:1
        @comp S2 s1 = 1.25
        for j in i + 1:n
            @comp S3 s1 += B[i + 1]
        end
        @comp S4 A[i + 2] = max(A[i + 2], s1)
    end
    return nothing
end

@schedule f! begin
    shift(S4, i, 3)
end
