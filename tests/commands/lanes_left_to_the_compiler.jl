# Neighbours that are stored in one iteration, at places that data or sizes tell: no `omp simd` before these loops.
#! target c
#! sizes T=8,n U=8,n idx=1 p=3 q=3
using Tessella

@tessella function lanes_left_to_the_compiler!(T::Matrix{Float64}, U::Matrix{Float64}, idx::Vector{Int}, p::Int, q::Int)
    n = size(T, 2)
    for j in 1:length(idx)
        for i in 1:n
            @comp S T[clamp(idx[j], 1, 7), i] = T[3, i] + 1.0
            @comp R T[clamp(idx[j], 1, 7)+1, i] = T[3, i] * 2.0
        end
    end
    for i in 1:n
        @comp P U[p, i] = U[q, i] + 1.0
        @comp Q U[p+1, i] = U[q, i] * 2.0
    end
    return nothing
end

@schedule lanes_left_to_the_compiler! begin
    vectorize(S, i, 4)
    vectorize(P, i, 4)
end

lanes_left_to_the_compiler_inputs(::Type{T}, n) where {T} = T[i + j for i in 1:8, j in 1:n], T[i - j for i in 1:8, j in 1:n], [3], 3, 3
