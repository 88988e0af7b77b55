# Points join the nearest of a few centers, which move to the middle of theirs, until no point changes: whether the center that a point
# has found is one of those that there are is tested on the way, by all points at once.
#! sizes own=points center=axes,centers x=axes,points most=6
#! run points=1 axes=1 centers=1
#! run points=0 axes=2 centers=3
#! run points=70 axes=3 centers=4
using Tessella

@tessella function clusters!(own::Vector{Int32}, center::Matrix{Float64}, x::Matrix{Float64}, most::Int)
    axes, points = size(x)
    centers = size(center, 2)
    total = zeros(axes, centers)
    count = zeros(Int, centers)
    for turn in 1:most
        changed = false
        for p in 1:points
            nearest, least = 1, Inf
            for c in 1:centers
                distance = 0.0
                for a in 1:axes
                    distance += (x[a, p] - center[a, c])^2
                end
                if distance < least
                    nearest, least = c, distance
                end
            end
            if own[p] != nearest
                own[p] = nearest
                changed = true
            end
        end
        changed || break
        total .= 0
        count .= 0
        for p in 1:points
            c = own[p]
            count[c] += 1
            for a in 1:axes
                total[a, c] += x[a, p]
            end
        end
        for c in 1:centers, a in 1:axes
            if count[c] > 0
                center[a, c] = total[a, c] / count[c]
            end
        end
    end
    return nothing
end
