# Hexagons of four half steps.
#! target c
#! sizes A=n B=n steps=s
using Tessella

@tessella function hexagons_of_heat!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
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

@schedule hexagons_of_heat! begin
    hexagonal((S, R), t, i, 3, 4)
end

hexagons_of_heat_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], zeros(T, n), 7
