# Weights add up in bins that data name, in the source's order: each bin belongs to a warp.
#! sizes h=n bin=m w=m
#! within bin=n
#! run n=1 m=1
#! run n=5 m=0
#! run n=9 m=700
@tessella function weighed!(h::Vector{Float64}, bin::Vector{Int32}, w::Vector{Float64})
    for p in eachindex(w)
        h[bin[p]] += w[p]
    end
end
