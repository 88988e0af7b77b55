# The elements of a mesh add their parts to its nodes: three components, each with warps that own nodes.
#! sizes f=3,nodes node=4,m part=3,4,m
#! within node=nodes
#! run nodes=2 m=1
#! run nodes=11 m=40
@tessella function assembled!(f::Matrix{Float64}, node::Matrix{Int}, part::Array{Float64,3})
    for e in axes(node, 2), a in axes(node, 1), d in 1:3
        f[d, node[a, e]] += part[d, a, e]
    end
end
