# Edges that lie together in a matrix of two rows: tiles for all larger ones, and the source's order for that.
#! run m=2 n=2 steps=3
#! run m=2 n=7 steps=1
#! run m=5 n=2 steps=2
#! run m=4 n=4 steps=2
#! run m=19 n=21 steps=5
@tessella function edges_apart!(T::Matrix{Float64}, N::Matrix{Float64}, steps::Int)
    m, n = size(T)
    for t in 1:steps
        for j in 2:n-1, i in 2:m-1
            @comp S N[i, j] = 0.25 * (T[i-1, j] + T[i+1, j] + T[i, j-1] + T[i, j+1])
        end
        for j in 1:n
            @comp W N[1, j] = N[2, j]
            @comp E N[m, j] = N[m-1, j]
        end
        for j in 1:n, i in 1:m
            @comp C T[i, j] = N[i, j]
        end
    end
end

@schedule edges_apart! begin
    space((S, C), t, (j, i), (8, 8))
end
