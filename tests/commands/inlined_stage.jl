# A stage whose values are computed where they are read.
#! target c
#! sizes C=n A=n
using Tessella

@tessella function inlined_stage!(C::Vector{Float64}, A::Vector{Float64})
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

@schedule inlined_stage! begin
    inline(R)
end

inlined_stage_inputs(::Type{T}, n) where {T} = zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
