# Two sums over a value that both read: each computes it again, in the one pass that they share.
#! sizes x=n y=n
#! run n=1
#! run n=0
#! run n=33
#! run n=5000
using Tessella

@tessella function sums_of_differences(x::Vector{Float64}, y::Vector{Float64})
    s = 0.0
    q = 0.0
    @assert length(x) == length(y)
    @simd for i in 1:length(x)
        d = x[i] - y[i]
        e = d * d
        s += e * d
        q = max(q, abs(d))
    end
    return s + q
end
