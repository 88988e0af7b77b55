# Nests that share a kernel though their loops are not the same: one leaves out a column, the other a row, and the third one's loops stand in another order. The
# fourth skips every other row: it stays alone.
#! sizes ex=m,n ey=m,n hz=m,n energy=m,n c=4
#! run m=1 n=1
#! run m=3 n=2
#! run m=131 n=19
@tessella function near_nests!(ex::Matrix{Float32}, ey::Matrix{Float32}, hz::Matrix{Float32}, energy::Matrix{Float32}, c::Float32)
    m, n = size(hz)
    for j in 1:n, i in 2:m
        ey[i, j] -= c * (hz[i, j] - hz[i-1, j])
    end
    for j in 2:n, i in 1:m
        ex[i, j] -= c * (hz[i, j] - hz[i, j-1])
    end
    for i in 1:m, j in 1:n
        energy[i, j] = ex[i, j] * ex[i, j] + ey[i, j] * ey[i, j] + hz[i, j] * hz[i, j]
    end
    for j in 1:2:n, i in 1:m
        energy[i, j] *= 0.5f0
    end
    return nothing
end
