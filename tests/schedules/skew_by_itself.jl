# The factor is found: 1, after which the loops can be tiled.
#! run n=0 steps=1
#! run n=2 steps=2
#! run n=3 steps=1
#! run n=17 steps=5
@tessella function relax!(A::Vector{Float64}, steps::Int)
    n = length(A)
    for t in 1:steps, i in 2:n-1
        @comp S A[i] = (A[i-1] + A[i] + A[i+1]) / 3
    end
end

@schedule relax! begin
    skew(S, t, i, :auto)
    tile(S, (t, i), (2, 4))
end
