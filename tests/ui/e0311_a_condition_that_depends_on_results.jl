# Relaxes nodes with as many steps as their neighbours have
@tessella function relax!(distance::Vector{Int}, parent::Vector{Int}, many::Vector{Int}, to::Vector{Int})
    for e in eachindex(to)
        if distance[e] > 1
            distance[e] -= 1
            for k in 1:many[to[e]]
                parent[e] += k
            end
        end
    end
end
