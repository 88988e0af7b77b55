# The few nearest of many points, each put where it belongs among those found: a thread for each place asked for, whose subscripts are tested
# as it goes.
#! sizes index=k,places distance=k,places x=axes,points y=axes,places
#! run k=1 places=1 axes=1 points=1
#! run k=2 places=0 axes=2 points=3
#! run k=3 places=37 axes=2 points=20
using Tessella

@tessella function nearest_points!(index::Matrix{Int32}, distance::Matrix{Float64}, x::Matrix{Float64}, y::Matrix{Float64})
    axes, points = size(x)
    k, places = size(index)
    for q in 1:places
        for r in 1:k
            distance[r, q] = Inf
            index[r, q] = 0
        end
        for p in 1:points
            d = 0.0
            for a in 1:axes
                d += (x[a, p] - y[a, q])^2
            end
            if d < distance[k, q]
                r = k
                while r > 1 && distance[r-1, q] > d
                    distance[r, q] = distance[r-1, q]
                    index[r, q] = index[r-1, q]
                    r -= 1
                end
                distance[r, q] = d
                index[r, q] = p
            end
        end
    end
    return nothing
end
