#! target cuda
# Relaxes edges until the distances are short
@tessella function relax!(distance::Vector{Float64}, from::Vector{Int}, to::Vector{Int}, parent::Vector{Int}, name::Vector{Int})
    for e in eachindex(from)
        if distance[e] > 1
            distance[e] -= 1
            parent[e] = name[to[e]]
        end
    end
end
