# Two sums of one loop, of integers, in each step of time: each in parts, and kept for one step only.
#! sizes u=n r=steps,2
#! run n=0 steps=2
#! run n=1 steps=1
#! run n=700 steps=3
using Tessella

@tessella function norms_in_time!(u::Vector{Int64}, r::Matrix{Int64})
    for t in axes(r, 1)
        s = 0
        q = 0
        for i in eachindex(u)
            s += u[i]
            q += u[i] * u[i]
        end
        r[t, 1] = s
        r[t, 2] = q
        for i in eachindex(u)
            u[i] = 3 * u[i] + 1
        end
    end
end
