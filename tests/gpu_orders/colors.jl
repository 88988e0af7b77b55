# Three colours side by side: a warp has neighbours along a line of pixels, too.
#! sizes y=c,w,h x=c,w,h
#! run c=3 w=1 h=1
#! run c=3 w=261 h=3
#! run c=4 w=5 h=2
using Tessella

@tessella function colors!(y::Array{Float32,3}, x::Array{Float32,3})
    _, w, h = size(x)
    for j in 1:h, i in 1:w, c in 1:3
        y[c, i, j] = 1.0f0 - x[c, i, j]
    end
    return nothing
end
