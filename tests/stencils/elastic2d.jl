# Elastic waves in a plane on a staggered grid (Virieux, Geophysics 51(4), 1986): velocities from stresses, then stresses from velocities,
# each field in place.
#! with space(VX, t, (j, i), (4, 8))
#! with hexagonal(VX, t, (j, i), 3, (4, 8))
#! with hexagonal(VX, t, (j, i), 1, 2)
#! with time_skew(VX, t, (j, i), 2, (4, 8))
#! with overlapped(VX, t, (j, i), 3, (8, 8))
#! gpu overlapped(VX, t, (j, i), 1, (4, 8))
#! gpu grid_sync(VX, t, (j, i), (4, 8))
#! gpu hexagonal(VX, t, (j, i), 1, (2, 8))
#! run n=9 m=9 steps=1
#! run n=11 m=13 steps=5
#! run n=24 m=19 steps=10
#! own n=37 m=141 steps=19
@tessella function elastic2d!(vx::Matrix{Float64}, vy::Matrix{Float64}, sxx::Matrix{Float64}, syy::Matrix{Float64}, sxy::Matrix{Float64},
                              b::Float64, l::Float64, μ::Float64, steps::Int)
    n, m = size(vx)
    for t in 1:steps
        for j in 2:m-1, i in 2:n-1
            @comp VX vx[i, j] = vx[i, j] + b * (sxx[i, j] - sxx[i-1, j] + sxy[i, j] - sxy[i, j-1])
            @comp VY vy[i, j] = vy[i, j] + b * (sxy[i+1, j] - sxy[i, j] + syy[i, j+1] - syy[i, j])
        end
        for j in 2:m-1, i in 2:n-1
            @comp SXX sxx[i, j] = sxx[i, j] + (l + 2 * μ) * (vx[i+1, j] - vx[i, j]) + l * (vy[i, j] - vy[i, j-1])
            @comp SYY syy[i, j] = syy[i, j] + l * (vx[i+1, j] - vx[i, j]) + (l + 2 * μ) * (vy[i, j] - vy[i, j-1])
            @comp SXY sxy[i, j] = sxy[i, j] + μ * (vx[i, j+1] - vx[i, j] + vy[i, j] - vy[i-1, j])
        end
    end
end
