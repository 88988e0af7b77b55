# All time levels are kept, so each step could be a kernel of its own; diagonals of parallelograms are fewer.
#! sizes u=steps,n
#! run steps=2 n=2
#! run steps=3 n=5
#! run steps=90 n=70
#! run steps=35 n=211
using Tessella

@tessella function levels!(u::Matrix{Float64})
    steps, n = size(u)
    for t in 3:steps, i in 2:n-1
        u[t, i] = 2.0 * u[t-1, i] - u[t-2, i] + 0.25 * (u[t-1, i-1] - 2.0 * u[t-1, i] + u[t-1, i+1])
    end
end
