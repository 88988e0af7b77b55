# Distances of patches belong to a point and an offset: they stay in registers, whatever sums could be taken apart.
using Tessella

@tessella function patches!(out::Matrix{Float32}, x::Matrix{Float32}, s::Int, p::Int)
    m, n = size(x)
    for j in 1+s+p:n-s-p, i in 1+s+p:m-s-p
        least = Inf32
        for dj in -s:s, di in -s:s
            d = 0f0
            for q in -p:p, r in -p:p
                d += (x[i+r, j+q] - x[i+di+r, j+dj+q])^2
            end
            if d > 0f0
                least = min(least, d)
            end
        end
        out[i, j] = least
    end
end
