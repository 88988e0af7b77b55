@tessella function outer(u::Vector{Float64}, steps)
    w = copy(u)
    for t in 1:steps
        w = w .* w'
    end
    return w
end

@tessella function masked(u::Vector{Float64}, steps)
    m = fill(true, length(u))
    for t in 1:steps
        m = u .> 1.0
    end
    return m
end

@tessella function halves(u::Vector{Float64}, steps)
    w = copy(u)
    for t in 1:steps
        next = w .* 0.5
        left = view(next, 1:2)
        w = next
        left[1] = t
    end
    return w
end

@tessella function summed(u::Vector{Float64}, steps)
    w = 0.0
    for t in 1:steps
        w = w .+ u
    end
    return w
end
