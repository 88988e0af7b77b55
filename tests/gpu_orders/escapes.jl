# Loops that `break` ends: conditions of a point are no matrix whose tiles pass through shared memory.
#! sizes out=m,n c=m,n d=m,n steps=k
#! run m=1 n=1 k=0
#! run m=0 n=3 k=2
#! run m=33 n=9 k=7
#! run m=40 n=33 k=40
using Tessella

@tessella function escapes!(out::Matrix{Int64}, c::Matrix{Float64}, d::Matrix{Float64}, steps::Int)
    m, n = size(out)
    @assert size(c) == (m, n) && size(d) == (m, n)
    for j in 1:n, i in 1:m
        zr = 0.0
        zi = 0.0
        out[i, j] = steps
        for it in 1:steps
            t = zr * zr - zi * zi + c[i, j]
            zi = 2.0 * zr * zi + d[i, j]
            zr = t
            if zr * zr + zi * zi > 4.0
                out[i, j] = it
                break
            end
        end
    end
    return nothing
end
