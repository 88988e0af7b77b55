#! target c
#! seed 20261124
# Found: wrong program
@tessella function f!(C::Array{Float32,1}, A::Array{Float32,2}, B::Array{Float32,1}, D::Array{Float32,1}, n::Int64)
    for i in 1:n
        for k in 1:4
            for j in 1:n
                @comp S1 C[i + j] -= (A[j, k] * A[j, i])
            end
        end
    end
    return nothing
end

@schedule f! begin
    split(S1, j, 5)
    pieces(S1, j1, j0)
    cache_shared(A, S1, j0)
end
