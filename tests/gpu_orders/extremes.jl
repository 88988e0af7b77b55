# Extremes, counts and sums of two vectors: one kernel for what reads a vector, whichever loop asks for it, and one for all results of the second.
#! sizes x=n y=n
#! run n=1
#! run n=255
#! run n=257
#! run n=2000
using Tessella

@tessella function extremes(x::Vector{Float32}, y::Vector{Int64})
    least = Inf32
    most = -Inf32
    total = 0
    for i in eachindex(x)
        least = min(least, x[i])
        most = max(most, x[i])
        total += y[i]
    end
    above = 0
    weighed = 0
    for i in 1:length(x)
        above += x[i] > 1 ? 1 : 0
        weighed += y[i] * y[i]
    end
    return least, most, total, above, weighed
end
