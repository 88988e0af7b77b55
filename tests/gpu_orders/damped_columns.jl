# A sum of each column, and points that end early with it: variables of a point stay together, those of a column do not hold them.
#! sizes out=m,n c=m,n b=m steps=t
#! run m=1 n=1 t=1
#! run m=0 n=2 t=3
#! run m=35 n=9 t=0
#! run m=33 n=34 t=3
using Tessella

@tessella function damped_columns!(out::Matrix{Float64}, c::Matrix{Float64}, b::Vector{Float64}, steps::Int)
    m, n = size(out)
    @assert size(c) == (m, n) && length(b) == m
    for j in 1:n
        s = 0.0
        for i in 1:m
            s += c[i, j] * b[i]
        end
        for i in 1:m
            z = c[i, j]
            for it in 1:steps
                z = z * 0.5 + s
                if z > 2.0
                    break
                end
                out[i, j] += z
            end
        end
    end
    return nothing
end
