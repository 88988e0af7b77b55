#! target c
#! seed 1
# Found: the variable lived for one iteration, but the shift moves its first store into an earlier one.
@tessella function f!(A::Array{Float64,1}, C::Array{Float64,2}, n::Int64)
    for i in 3:n - 1
        @comp S1 s1 = 0.5
        @comp S2 s1 += C[n - i + 2, i - 1]
        @comp S3 A[mod(i, 2) + 1] *= s1
    end
    return nothing
end

@schedule f! begin
    tile(S3, i, 4)
    split(S2, i1, 2)
    interchange(S1, i10, i11)
    shift(S1, i10, -2)
end
