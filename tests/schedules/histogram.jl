# Counts in places that are data: integers add up in any order, so the loops may change places. Both subscripts of the update read
# `idx[i, j]`, each by an access of its own.
#! run n=1 m=1
#! run n=8 m=5
#! run n=33 m=17
function f!(h::Vector{Int64}, idx::Matrix{Int64}, n::Int, m::Int)
    for j in 1:m, i in 1:n
        @comp S h[mod1(idx[i, j], length(h))] += i - j
    end
    return nothing
end

@schedule f! begin
    interchange(S, j, i)
    split(S, i, 4)
    reverse(S, j)
end
