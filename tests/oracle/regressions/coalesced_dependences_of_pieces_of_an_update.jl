#! target c
#! seed 1
@tessella function f!(C::Array{Float32,2}, A::Array{Float32,2}, B::Array{Float32,2}, D::Array{Float32,2}, n::Int64)
    for k in 2:n
        for i in 1:n
            for j in 1:n
                @comp S1 C[i, k] *= (A[k, i] * A[j, i])
                @comp S2 A[k, j] -= (B[j, k] * Float32(j))
            end
        end
    end
    return nothing
end

@schedule f! begin
    split(S1, i, 4)
    pieces(S2, j, i1)
end
