# The largest value, the first place where it stands, and the last where the smallest does: reductions of all threads.
using Tessella

@tessella function best_of_vector(x::Vector{Float64})
    most, first = -Inf, 0
    least, last = 2.0, 0
    for i in eachindex(x)
        if x[i] > most
            most = x[i]
            first = i
        end
    end
    for i in eachindex(x)
        if x[i] <= least
            least = x[i]
            last = i
        end
    end
    return most, first, least, last
end
#! sizes x=n
#! run n=0
#! run n=5
#! run n=3000
