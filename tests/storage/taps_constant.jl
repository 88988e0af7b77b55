# On the CPU, `constant` leaves the taps where they are.
#! target c
#! sizes result=m signal=m taps=3
using Tessella

@tessella function taps_constant!(result::Vector{Float64}, signal::Vector{Float64}, taps::Vector{Float64})
    for i in 2:length(signal)-1
        @comp S result[i] = taps[1] * signal[i-1] + taps[2] * signal[i] + taps[3] * signal[i+1]
    end
    return nothing
end

@schedule taps_constant! begin
    assume(size(taps, 1) == 3)
    constant(taps)
    split(S, i, 8)
end

function taps_constant_inputs(::Type{T}, n) where {T}
    signal = T[mod(i * i, 11) / 11 for i in 1:n]
    return copy(signal), signal, T[0.25, 0.5, 0.25]
end
