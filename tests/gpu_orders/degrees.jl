# How many edges each node has: both statements of an edge update one array, in one piece each. A maximum beside a count keeps
# its loop in order: both get owners.
#! sizes degree=m latest=m from=e to=e decay=1
#! within from=m to=m
#! run m=3 e=1
#! run m=40 e=2500
@tessella function degrees!(
    degree::Vector{Int},
    latest::Vector{Int},
    from::Vector{Int},
    to::Vector{Int},
    decay::Vector{Float64},
)
    for e in eachindex(from)
        degree[from[e]] += 1
        degree[to[e]] += 1
    end
    for e in eachindex(from)
        latest[from[e]] += 1
        latest[to[e]] = max(latest[to[e]], e)
        decay[1] = decay[1] * 0.5 + e
    end
    return nothing
end
