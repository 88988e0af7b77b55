# Two loops as one, the later a step behind.
#! target c
#! sizes C=n B=n A=n
using Tessella

@tessella function fused_with_a_delay!(C::Vector{Float64}, B::Vector{Float64}, A::Vector{Float64})
    n = length(A)
    for i in 1:n
        @comp R B[i] = 2 * A[i]
    end
    for i in 2:n-1
        @comp S C[i] = B[i-1] + B[i+1]
    end
    return nothing
end

@schedule fused_with_a_delay! begin
    fuse(R, S, i; shift=:auto)
end

fused_with_a_delay_inputs(::Type{T}, n) where {T} = zeros(T, n), zeros(T, n), T[mod(i * i, 7) / 7 for i in 1:n]
