# The cheapest way through a grid, column by column, each step straight or to one side
using Tessella

@tessella function pathfinder!(best, next, wall)
    m, n = size(wall)
    for i in 1:m
        best[i] = wall[i, 1]
    end
    for j in 2:n
        for i in 1:m
            least = best[i]
            least = i > 1 ? min(least, best[i-1]) : least
            least = i < m ? min(least, best[i+1]) : least
            next[i] = least + wall[i, j]
        end
        for i in 1:m
            best[i] = next[i]
        end
    end
end

pathfinder_inputs(::Type{T}, n, m = n + 5) where {T} = (zeros(T, m), zeros(T, m), T[mod(7i * j + i, 10) for i in 1:m, j in 1:n])
