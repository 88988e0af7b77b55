# Columns of a few elements fit one tile, and those of every second element have none: both stay with a thread each.
#! sizes y=m,n x=m,n z=m,n
#! run m=10 n=1
#! run m=10 n=70
#! run m=12 n=33
using Tessella

@tessella function short_columns!(y::Matrix{Float32}, z::Matrix{Float32}, x::Matrix{Float32})
    m, n = size(x)
    for j in 1:n, i in 2:10
        y[i, j] = y[i-1, j] + x[i, j]
    end
    for j in 1:n
        s = 0.0f0
        for i in 3:2:m
            s += x[i, j]
            z[i, j] = s
        end
    end
    return nothing
end
