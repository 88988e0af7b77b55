# Red and black points of a plane in turn, each from the other ones around it: where a row begins is told by its number.
#! with space(S, t, (j, i), (4, 8))
#! gpu space(S, t, (j, i), (4, 8))
#! gpu grid_sync(S, t, (j, i), (4, 8))
#! run m=4 n=5 steps=1
#! run m=2 n=3 steps=3
#! run m=3 n=3 steps=4
#! run m=19 n=23 steps=8
@tessella function red_black2d!(u::Matrix{Float64}, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 2:n-1
            for i in 2+(j%2):2:m-1
                @comp S u[i, j] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])
            end
        end
        for j in 2:n-1
            for i in 3-(j%2):2:m-1
                @comp R u[i, j] = 0.25 * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1])
            end
        end
    end
end
