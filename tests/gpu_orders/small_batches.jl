# Batches of sums with rows and columns of a known length: how many blocks they make is known but for the number of batches.
#! sizes y=a,b,n x=a,c,n w=c,b
#! run a=33 b=31 c=2 n=1
#! run a=33 b=31 c=5 n=3
using Tessella

@tessella function small_batches!(y::Array{Float32,3}, x::Array{Float32,3}, w::Matrix{Float32})
    for k in axes(y, 3), j in 1:31, i in 1:33
        s = 0.0f0
        for l in axes(x, 2)
            s += x[i, l, k] * w[l, j]
        end
        y[i, j, k] = s
    end
    return nothing
end
