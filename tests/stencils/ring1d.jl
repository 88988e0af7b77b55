# A wave that travels around a ring, against the wind and two points away.
#! with space(S, t, i, 16)
#! gpu stream(S, t, 2, 4)
#! gpu stream(S, t, 5, 4)
#! run n=5 v_1=5 steps=1
#! run n=1 v_1=1 steps=3
#! run n=2 v_1=4 steps=4
#! run n=0 v_1=0 steps=4
#! run n=131 v_1=131 steps=12
#! own n=1003 v_1=1003 steps=29
@tessella function ring1d!(u::Vector{Float64}, v::Vector{Float64}, c::Float64, steps::Int)
    n = length(u)
    for t in 1:steps
        for i in 1:n
            @comp S v[i] = u[i] - c * (3 * u[i] - 4 * u[mod1(i - 1, n)] + u[mod1(i - 2, n)])
        end
        for i in 1:n
            @comp R u[i] = v[i]
        end
    end
    return nothing
end
