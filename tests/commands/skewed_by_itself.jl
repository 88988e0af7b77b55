# The same; Tessella finds the factor.
#! target c
#! sizes A=n steps=s
using Tessella

@tessella function skewed_by_itself!(A::Vector{Float64}, steps::Int)
    for t in 1:steps, i in 3:length(A)-2
        @comp S A[i] = (A[i-2] + A[i] + A[i+2]) / 3
    end
    return nothing
end

@schedule skewed_by_itself! begin
    skew(S, t, i, :auto)
    tile(S, (t, i), (2, 8))
end

skewed_by_itself_inputs(::Type{T}, n) where {T} = T[mod(i * i, 7) / 7 for i in 1:n], 4
