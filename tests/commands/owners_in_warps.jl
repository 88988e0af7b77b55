# What edges of a graph pull with at both of their ends: warps own the ends.
#! target cuda
#! sizes f=m from=n to=n k=n
using Tessella

@tessella function owners_in_warps!(f::Vector{Float64}, from::Vector{Int}, to::Vector{Int}, k::Vector{Float64})
    for e in eachindex(from, to, k)
        @comp S f[mod1(from[e], length(f))] += k[e]
        @comp R f[mod1(to[e], length(f))] -= 2k[e]
    end
    return nothing
end

@schedule owners_in_warps! begin
    owners((S, R), 64)
    @block x for o0 = fld(owner, 4)
        @thread y for o1 = mod(owner, 4)
            for e = e
                S
                R
            end
        end
    end
end

owners_in_warps_inputs(::Type{T}, n) where {T} = zeros(T, n ÷ 3 + 1), [mod(7i, n ÷ 3 + 1) + 1 for i in 1:n],
    [mod(5i + 2, n ÷ 3 + 1) + 1 for i in 1:n], T[sin(3i) for i in 1:n]
