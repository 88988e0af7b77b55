# Running sums down columns: tiles of both matrices pass through shared memory, the sums stay in registers.
#! sizes y=m,n x=m,n
#! run m=1 n=1
#! run m=0 n=3
#! run m=70 n=35
using Tessella

@tessella function running_sums!(y::Matrix{Float32}, x::Matrix{Float32})
    m, n = size(x)
    @assert size(y) == (m, n)
    for j in 1:n
        s = 0.0f0
        for i in 1:m
            s += x[i, j]
            y[i, j] = s
        end
    end
    return nothing
end
