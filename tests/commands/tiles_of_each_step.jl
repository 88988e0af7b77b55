# Tiles of space in each time step.
#! target c
#! sizes A=n B=n steps=s
using Tessella

@tessella function tiles_of_each_step!(A::Vector{Float64}, B::Vector{Float64}, steps::Int)
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

@schedule tiles_of_each_step! begin
    space((S, R), t, i, 8)
end

tiles_of_each_step_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], zeros(T, n), 7
