# Columns in steps: what stays along a column stays in registers from one loop along it to the next.
#! sizes y=m,n x=m,n z=n
#! run m=2 n=1
#! run m=71 n=37
using Tessella

@tessella function scaled_columns!(y::Matrix{Float32}, z::Vector{Float32}, x::Matrix{Float32})
    m, n = size(y)
    for t in 1:3
        for j in 1:n
            z[j] = 0.5f0
            for i in 2:m
                y[i, j] = y[i-1, j] + x[i, j]
                z[j] = max(z[j], y[i, j])
            end
            for i in 1:m
                y[i, j] /= z[j]
            end
        end
    end
    return nothing
end
