# Wavefronts of skewed tiles.
#! target c
#! sizes A=n B=n steps=s
using Tessella

@tessella function wavefronts_of_heat!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps
        for i in 2:n-1
            @comp S B[i] = (A[i-1] + A[i] + A[i+1]) / 3
        end
        for i in 2:n-1
            @comp R A[i] = B[i]
        end
    end
    return nothing
end

@schedule wavefronts_of_heat! begin
    time_skew((S, R), t, i, 2, 8)
end

wavefronts_of_heat_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], zeros(T, n), 7
