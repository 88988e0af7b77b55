# Tiles of three steps that compute their neighbours' points themselves.
#! target c
#! sizes A=n B=n steps=s
using Tessella

@tessella function overlapping_heat!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
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

@schedule overlapping_heat! begin
    overlapped(S, t, i, 3, 8)
end

overlapping_heat_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], zeros(T, n), 7
