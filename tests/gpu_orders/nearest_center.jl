# The distances to all centers would be an array larger than all that the source has: each thread keeps its own.
#! sizes label=n x=d,n c=d,k
#! run n=1 k=1 d=1
#! run n=0 k=2 d=3
#! run n=70 k=3 d=5
#! run n=33 k=35 d=40
#! run n=65 k=33 d=2
#! run n=5 k=0 d=2
using Tessella

@tessella function nearest_center!(label::Vector{Int64}, x::Matrix{Float64}, c::Matrix{Float64})
    d, n = size(x)
    k = size(c, 2)
    @assert size(c, 1) == d && length(label) == n
    for i in 1:n
        best = Inf
        at = 0
        for j in 1:k
            s = 0.0
            for l in 1:d
                s += (x[l, i] - c[l, j])^2
            end
            if s < best
                best = s
                at = j
            end
        end
        label[i] = at
    end
    return nothing
end
