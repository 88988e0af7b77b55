# A channel: periodic along it, walls that keep their values on both sides; two fields, of which one is updated in place.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 1, 4)
#! run m=4 n=5 q_1=4 q_2=5 steps=1
#! run m=1 n=3 q_1=1 q_2=3 steps=4
#! run m=3 n=2 q_1=3 q_2=2 steps=4
#! run m=37 n=23 q_1=40 q_2=25 steps=6
#! own m=9 n=203 q_1=12 q_2=203 steps=13
@tessella function channel2d!(u::Matrix{Float64}, q::Matrix{Float64}, k::Float64, steps::Int)
    m, n = size(u)
    for t in 1:steps
        for j in 2:n-1, i in 1:m
            @comp S q[i, j] = u[mod1(i - 2, m), j] - 0.5 * (u[mod1(i + 1, m), j-1] + u[i, j+1])
        end
        for j in 2:n-1, i in 1:m
            @comp R u[i, j] = u[i, j] + k * (q[mod1(i + 1, m), j] - q[i, j])
        end
    end
    return nothing
end
