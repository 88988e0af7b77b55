# Diamonds over time and space, as the tuner proposes them: those of a diagonal on blocks, the points of a row on threads.
#! sizes u=t,n
#! run t=2 n=2
#! run t=3 n=3
#! run t=24 n=24
#! run t=40 n=61
#! run t=61 n=33
using Tessella

@tessella function diamonds!(u::Matrix{Float64})
    steps, n = size(u)
    for t in 3:steps, i in 2:n-1
        @comp S u[t, i] = 2.0 * u[t-1, i] - u[t-2, i] + 0.25 * (u[t-1, i-1] - 2.0 * u[t-1, i] + u[t-1, i+1])
    end
end

@schedule diamonds! begin
    parallelogram(S, (t, i), ((6, -6), (6, 6)))
    skew(S, t0, i0, 1)
    interchange(S, t0, i0)
    gpu(S, t0, i)
end
