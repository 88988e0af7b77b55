# Counts in an `Int`, stored in bytes: eight at most, so that nothing is tested.
#! sizes c=m,n a=m,n
#! run m=1 n=1
#! run m=0 n=3
#! run m=35 n=11
#! run m=40 n=34
using Tessella

@tessella function neighbours!(c::Matrix{UInt8}, a::Matrix{Float32})
    m, n = size(a)
    for j in 2:n-1, i in 2:m-1
        k = 0
        for dj in -1:1, di in -1:1
            if (di != 0 || dj != 0) && a[i+di, j+dj] > 0f0
                k += 1
            end
        end
        c[i, j] = k
    end
    return nothing
end
