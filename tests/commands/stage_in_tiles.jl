# A stage that each tile computes for itself.
#! target c
#! sizes C=n A=n
using Tessella

@tessella function stage_in_tiles!(C::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    B = similar(A)
    for i in 1:n
        @comp R B[i] = A[i] * A[i]
    end
    for i in 2:n-1
        @comp S C[i] = B[i-1] + B[i+1]
    end
    return nothing
end

@schedule stage_in_tiles! begin
    split(S, i, 8)
    compute_at(R, S, i0)
    parallel(S, i0)
end

stage_in_tiles_inputs(::Type{T}, n) where {T} = zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
