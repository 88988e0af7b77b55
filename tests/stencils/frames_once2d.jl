# Steps inside of another loop, one statement of which runs in some iterations of that alone: these steps are others.
#! with hexagonal(S, t, (j, i), 3, (5, 8))
#! with space((S, R), t, (j, i), (8, 8))
#! refused E0490 stream(S, t, 2, 2)
#! run m=4 n=5 rounds=2 steps=3
#! run m=19 n=23 rounds=3 steps=5
#! own m=65 n=20 rounds=3 steps=11
@tessella function frames_once2d!(u::Matrix{Float64}, v::Matrix{Float64}, c::Float64, rounds::Int, steps::Int)
    m, n = size(u)
    for r in 1:rounds
        for t in 1:steps
            for j in 2:n-1, i in 2:m-1
                @comp S v[i, j] = u[i, j] + c * (u[i+1, j] + u[i-1, j] + u[i, j+1] + u[i, j-1] - 4u[i, j])
            end
            if r % 2 == 1
                for j in 2:n-1, i in 2:m-1
                    @comp R u[i, j] = v[i, j]
                end
            end
        end
    end
end
