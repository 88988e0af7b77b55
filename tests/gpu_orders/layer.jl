# Filters of a layer: threads along pixels find neighbours in images and results, and the same weights.
#! sizes y=h,w,o x=hh,ww,c weights=k,k,c,o
#! run h=1 w=1 o=1 hh=1 ww=1 c=1 k=1
#! run h=0 w=2 o=3 hh=2 ww=4 c=2 k=3
#! run h=35 w=3 o=9 hh=37 ww=5 c=2 k=3
#! run h=32 w=2 o=64 hh=32 ww=2 c=3 k=1
using Tessella

@tessella function layer!(y::Array{Float32,3}, x::Array{Float32,3}, weights::Array{Float32,4})
    h, w, filters = size(y)
    kh, kw, channels, _ = size(weights)
    @assert size(weights, 4) == filters
    @assert size(x, 1) == h + kh - 1 && size(x, 2) == w + kw - 1 && size(x, 3) == channels
    for o in 1:filters, j in 1:w, i in 1:h
        s = 0.0f0
        for c in 1:channels, q in 1:kw, p in 1:kh
            s += x[i+p-1, j+q-1, c] * weights[p, q, c, o]
        end
        y[i, j, o] = s
    end
    return nothing
end
