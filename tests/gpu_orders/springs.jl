# Springs pull at both of their ends: what they pull with is computed by all threads, and warps own the ends.
#! sizes force=n from=m to=m k=m x=n
#! within from=n to=n
#! run n=2 m=1
#! run n=13 m=600
@tessella function springs!(force::Vector{Float64}, from::Vector{Int}, to::Vector{Int}, k::Vector{Float64}, x::Vector{Float64})
    for e in eachindex(from, to, k)
        f = k[e] * (x[to[e]] - x[from[e]])
        force[from[e]] += f
        force[to[e]] -= f
    end
end
