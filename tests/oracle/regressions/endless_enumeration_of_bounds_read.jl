#! target c
#! seed 1
#! sizes 11
#! effort 1
# Found: the iterator of a loop that only data bound was enumerated up to the greatest number there may be
@tessella function f!(A::Array{Float64,2}, B::Array{Float64,1}, P::Array{Int64,1}, n::Int64)
    for i in n:-1:2
        x1 = zeros(Float64, n + 2)
        for q in P[i]:P[i + 1] - 1
            @comp S1 x1[(i) ÷ 2 + 1] = (x1[q] * B[i])
        end
        @comp S2 B[i] = (A[i, 1] + x1[2])
    end
    return nothing
end
