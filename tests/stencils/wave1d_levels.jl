# A wave equation with two time levels, each step an array's row of its own: one statement, distances of one and two.
#! with hexagonal(S, t, i, 2, 1)
#! with hexagonal(S, t, i, 4, 3)
#! with time_skew(S, t, i, 4, 6)
#! run steps=3 n=4
#! run steps=17 n=23
@tessella function wave1d_levels!(u::Matrix{Float64})
    steps, n = size(u)
    for t in 3:steps, i in 2:n-1
        @comp S u[t, i] = 2.0 * u[t-1, i] - u[t-2, i] + 0.25 * (u[t-1, i-1] - 2.0 * u[t-1, i] + u[t-1, i+1])
    end
end
