# What is added is looked up at a place that is computed in steps.
#! sizes h=n x=m q=n
#! run n=3 m=1
#! run n=9 m=300
@tessella function looked_up!(h::Vector{Float64}, x::Vector{Float64}, q::Vector{Float64})
    for p in eachindex(x)
        h[clamp(unsafe_trunc(Int, x[p] * x[p] + 1.0) * 3, 1, length(h))] += q[clamp(unsafe_trunc(Int, x[p] * x[p] + 1.0) * 3, 1, length(q))]
    end
end
