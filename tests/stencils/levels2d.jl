# A wave whose three levels in time are the last axis of one array and take turns, from a source in the middle; a row of receivers
# writes down each step.
#! with space(S, t, (j, i), (8, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! with hexagonal(S, t, (j, i), 3, (4, 8))
#! gpu stream(S, t, 1, 4, 16)
#! gpu grid_sync(S, t, 1, 2, 12)
#! run m=4 n=5 u_3=3 pulse_1=3 rj=5
#! run m=19 n=23 u_3=3 pulse_1=8 rj=2
#! run m=21 n=18 u_3=3 pulse_1=12 rj=9
#! own m=9 n=103 u_3=3 pulse_1=20 rj=4
@tessella function levels2d!(u::Array{Float32,3}, c::Matrix{Float32}, pulse::Vector{Float32}, heard::Matrix{Float32}, rj::Int)
    m, n = size(u, 1), size(u, 2)
    @assert size(u, 3) == 3
    for t in 3:length(pulse)
        for j in 2:n-1, i in 2:m-1
            @comp S u[i, j, t%3+1] = 2f0 * u[i, j, (t-1)%3+1] - u[i, j, (t-2)%3+1] +
                c[i, j] * (u[i-1, j, (t-1)%3+1] + u[i+1, j, (t-1)%3+1] + u[i, j-1, (t-1)%3+1] + u[i, j+1, (t-1)%3+1] - 4f0 * u[i, j, (t-1)%3+1])
        end
        u[m ÷ 2, n ÷ 2, t%3+1] += pulse[t]
        for i in 1:m
            @comp H heard[i, t] = u[i, rj, t%3+1]
        end
    end
end
