# PolyBench's fdtd-2d: three fields, and a boundary that is a nest of one loop.
#! with hexagonal((F, EY, EX, HZ), t, (j, i), 3, (3, 8))
#! with time_skew(HZ, t, (j, i), 2, (8, 8))
#! with space(HZ, t, (j, i), (8, 8))
#! with overlapped(HZ, t, (j, i), 2, (8, 8))
#! gpu overlapped(HZ, t, (j, i), 2, (8, 8))
#! gpu grid_sync(HZ, t, (j, i), (8, 8))
#! gpu hexagonal((F, EY, EX, HZ), t, (j, i), 3, 3)
#! gpu stream(F, t, 2, 2, 16)
#! gpu stream(F, t, 4, 2, 16)
#! run nx=2 ny=2 steps=1
#! run nx=17 ny=13 steps=8
#! own nx=9 ny=203 steps=37
@tessella function fdtd2d!(ex::Matrix{Float64}, ey::Matrix{Float64}, hz::Matrix{Float64}, fict::Vector{Float64})
    nx, ny = size(ex)
    steps = length(fict)
    for t in 1:steps
        for j in 1:ny
            @comp F ey[1, j] = fict[t]
        end
        for j in 1:ny, i in 2:nx
            @comp EY ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i-1, j])
        end
        for j in 2:ny, i in 1:nx
            @comp EX ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j-1])
        end
        for j in 1:ny-1, i in 1:nx-1
            @comp HZ hz[i, j] = hz[i, j] - 0.7 * (ex[i, j+1] - ex[i, j] + ey[i+1, j] - ey[i, j])
        end
    end
end
