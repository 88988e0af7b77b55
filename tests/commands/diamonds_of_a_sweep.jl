# Parallelograms whose edges are those of the cone of the dependences.
#! target c
#! sizes A=m,n
using Tessella

@tessella function diamonds_of_a_sweep!(A::Matrix{Float64})
    for t in 2:size(A, 2), i in 2:size(A, 1)-1
        @comp S A[i, t] = (A[i-1, t-1] + A[i, t-1] + A[i+1, t-1]) / 3
    end
    return nothing
end

@schedule diamonds_of_a_sweep! begin
    parallelogram(S, (t, i), ((3, 3), (4, -4)))
    skew(S, t0, i0, :auto)
end

diamonds_of_a_sweep_inputs(::Type{T}, n) where {T} = (T[mod(3i + 5j, 11) / 4 for i in 1:n, j in 1:n+2],)
