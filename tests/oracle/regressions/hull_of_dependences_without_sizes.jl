#! target c
#! seed 1
# Found: isl error. isl failed on the hull of dependences whose constraints on sizes had been dropped.
@tessella function f!(A::Array{Float64,2}, B::Array{Float32,1}, C::Array{Float32,2})
    n = size(A, 1)
    @inbounds for i in 3:n - 2
        for j in n - 1:-1:i
            @comp S1 B[n - i + 2] = B[j]
            for k in i:2:4
                @comp S2 B[fld(j, 2) + 1] = min((1.5f0 * B[(i) ÷ 2 + 1]), B[j])
                @comp S3 B[k + j - 1] = max(B[k + j - 1], C[i - 1, k])
            end
        end
    end
    return nothing
end

@schedule f! begin
    split(S3, i, 7)
    split(S3, i1, 4)
end
