# Sums of each cell that its elements then need: with a thread for each cell, nothing is gained by kernels of their own.
#! sizes fn=m,n,q f=m,n,q w=q c=q
#! run m=1 n=1 q=1
#! run m=0 n=2 q=3
#! run m=3 n=4 q=0
#! run m=35 n=9 q=9
using Tessella

@tessella function collisions!(fn::Array{Float64,3}, f::Array{Float64,3}, w::Vector{Float64}, c::Vector{Float64})
    m, n, q = size(f)
    @assert size(fn) == (m, n, q) && length(w) == q && length(c) == q
    for j in 1:n, i in 1:m
        density = 0.0
        speed = 0.0
        for k in 1:q
            density += f[i, j, k]
            speed += f[i, j, k] * c[k]
        end
        speed /= density
        for k in 1:q
            along = c[k] * speed
            rest = w[k] * density * (1 + 3along + 4.5along * along - 1.5speed * speed)
            fn[i, j, k] = f[i, j, k] + 0.6 * (rest - f[i, j, k])
        end
    end
    return nothing
end
