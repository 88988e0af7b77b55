# A loop that data end around another one: it stays as it is, and its variables are registers without a command.
#! sizes out=n L=n
#! run n=1
#! run n=0
#! run n=130
using Tessella

@tessella function halvings!(out::Vector{Int64}, L::Vector{Int64})
    n = length(out)
    @assert length(L) == n
    for i in 1:n
        x = abs(L[i])
        s = 0
        while x > 1
            for k in 1:4
                s += k * x
            end
            x = x >> 1
        end
        out[i] = s
    end
    return nothing
end
