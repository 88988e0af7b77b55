# A filter of three colours side by side: a thread has all of a pixel, which share the weights.
#! sizes y=c,w,h x=c,w2,h2 k=p,p
#! run c=3 w=1 h=1 w2=5 h2=5 p=5
#! run c=3 w=35 h=6 w2=39 h2=10 p=5
using Tessella

@tessella function blurred_colors!(y::Array{Float32,3}, x::Array{Float32,3}, k::Matrix{Float32})
    _, w, h = size(y)
    @assert size(k) == (5, 5)
    for j in 1:h, i in 1:w, c in 1:3
        s = 0.0f0
        for q in 1:5, p in 1:5
            s += x[c, i+p-1, j+q-1] * k[p, q]
        end
        y[c, i, j] = s
    end
    return nothing
end
