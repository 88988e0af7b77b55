#! target c
#! seed 1
#! sizes 6
# Found: isl error: a coordinate exceeds 64 bits.
@tessella function f!(A::Array{Float64,1}, B::Array{Float32,1}, n::Int64)
    for i in 2:3:n
        @comp S1 B[i] = B[i]
    end
    for i in 1:1
        for j in i:i
            @comp S2 A[j] = A[i]
        end
    end
    return nothing
end

@schedule f! begin
    split(S1, i, 2)
    before(S1, S2, j)
    pieces(S1, j, i)
    privatize(B, S1, j)
end
