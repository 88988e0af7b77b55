# Sweeps in place, skewed by hand so that they can be tiled.
#! target c
#! sizes A=n steps=s
using Tessella

@tessella function skewed_sweep!(A::Vector{Float64}, steps::Int)
    for t in 1:steps, i in 2:length(A)-1
        @comp S A[i] = (A[i-1] + A[i] + A[i+1]) / 3
    end
    return nothing
end

@schedule skewed_sweep! begin
    skew(S, t, i, 1)
    tile(S, (t, i), (2, 8))
end

skewed_sweep_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], 5
