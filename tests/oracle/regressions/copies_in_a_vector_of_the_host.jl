#! target cuda
#! seed 1
#! sizes 11
# Found: wrong program. Copies stood in a loop of the host that runs in no order.
@tessella function f!(A::Array{Int64,1}, B::Array{Int64,2}, m::Int64)
    n = size(B, 1)
    for i in 1:3:n
        @comp S1 s1 = 2
        for l in 2:i
            @comp S2 s1 += s1
        end
        @comp S3 B[fld(i, 2) + 1, i + 1] += (s1 + (A[i + 2] + B[i, i]))
    end
    return nothing
end

@schedule f! begin
    reverse(S3, i)
    vectorize(S3, i, 8)
    copy_out(B, S3, i)
    copy_in(B, S3, i)
    allocate(s1, S3, i; once=true)
end
