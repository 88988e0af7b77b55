# Filters along a line: a thread has eight of them, for a point each, which share what it loads of the line.
#! sizes y=n,f x=n2,c w=k,c,f
#! run n=1 f=1 n2=1 c=1 k=1
#! run n=35 f=33 n2=37 c=2 k=3
#! run n=700 f=40 n2=701 c=1 k=2
using Tessella

@tessella function line_filters!(y::Matrix{Float32}, x::Matrix{Float32}, w::Array{Float32,3})
    n, filters = size(y)
    k, channels, _ = size(w)
    @assert size(w, 3) == filters && size(x, 1) == n + k - 1 && size(x, 2) == channels
    for o in 1:filters, i in 1:n
        s = 0.0f0
        for l in 1:channels, p in 1:k
            s += x[i+p-1, l] * w[p, l, o]
        end
        y[i, o] = s
    end
    return nothing
end
