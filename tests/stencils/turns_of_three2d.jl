# A wave whose three levels take turns by `mod1`.
#! with hexagonal(S0, t, (j, i), 2, (8, 8))
#! with space(S0, t, (j, i), (8, 8))
#! gpu stream(S0, t, 1, 2)
#! gpu grid_sync(S0, t, 1)
#! run m=4 n=5 u_3=3 steps=3
#! run m=1 n=1 u_3=3 steps=1
#! run m=3 n=3 u_3=4 steps=4
#! run m=21 n=18 u_3=3 steps=8
#! own m=65 n=20 u_3=3 steps=11
@tessella function turns_of_three2d!(u::Array{Float32, 3}, c::Float32, steps::Int)
    m, n = size(u, 1), size(u, 2)
    @assert size(u, 3) >= 3
    for t in 1:steps
        before, now, next = mod1(t, 3), mod1(t + 1, 3), mod1(t + 2, 3)
        for j in 2:n-1, i in 2:m-1
            u[i, j, next] = 2u[i, j, now] - u[i, j, before] +
                c * (u[i+1, j, now] + u[i-1, j, now] + u[i, j+1, now] + u[i, j-1, now] - 4u[i, j, now])
        end
    end
end
