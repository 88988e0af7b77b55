#! target c
#! seed 735644487997355051
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: refused sizes that fit
@tessella function f!(A::Array{Float64,1}, B::Array{Float64,1}, C::Array{Float64,2}, P::Array{Int64,1}, n::Int64, m::Int64)
    for i in 2:-1:1
        (C[i + 2, 1] <= 1.75) && break
        for q in P[1]:P[2] - 1
            @comp S1 A[i] = A[q]
        end
    end
    return nothing
end

@schedule f! begin
end
