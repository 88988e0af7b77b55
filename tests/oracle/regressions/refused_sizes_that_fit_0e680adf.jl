#! target cuda
#! seed 10339838469697607413
#! sizes 11
#! effort 1
#! machine 32 16 524288 32768 32768 2048
# Found: refused sizes that fit
@tessella function f!(A::Array{Float32,1}, B::Array{Float32,1}, C::Array{Float32,1}, P::Array{Int64,1}, n::Int64)
    if B[1] >= 0.0f0
        for q in P[1]:P[2] - 1
            @comp S7 B[1] = A[q]
        end
    end
    return nothing
end

@schedule f! begin
end
