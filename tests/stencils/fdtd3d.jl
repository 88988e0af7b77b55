# Electric and magnetic fields in space, by finite differences in time: six fields, each with a size of its own, in two nests of three statements.
#! with space(EX, t, (k, j, i), (4, 4, 8))
#! with time_skew(EX, t, (k, j, i), 2, (4, 4, 8))
#! with overlapped(EX, t, (k, j, i), 1, (4, 4, 8))
#! with hexagonal(EX, t, (k, j, i), 1, (2, 4, 8))
#! gpu overlapped(EX, t, (k, j, i), 1, (4, 4, 8))
#! gpu hexagonal(EX, t, (k, j, i), 1, (2, 4, 8))
#! run l=8 m=9 n=10 steps=1
#! run l=9 m=7 n=6 steps=5
#! own l=9 m=40 n=19 steps=6
@tessella function fdtd3d!(ex::Array{Float32,3}, ey::Array{Float32,3}, ez::Array{Float32,3}, hx::Array{Float32,3}, hy::Array{Float32,3}, hz::Array{Float32,3}, c::Float32, steps::Int)
    l, m, n = size(ex)
    for t in 1:steps
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp EX ex[i, j, k] += c * ((hz[i, j, k] - hz[i, j-1, k]) - (hy[i, j, k] - hy[i, j, k-1]))
            @comp EY ey[i, j, k] += c * ((hx[i, j, k] - hx[i, j, k-1]) - (hz[i, j, k] - hz[i-1, j, k]))
            @comp EZ ez[i, j, k] += c * ((hy[i, j, k] - hy[i-1, j, k]) - (hx[i, j, k] - hx[i, j-1, k]))
        end
        for k in 2:n-1, j in 2:m-1, i in 2:l-1
            @comp HX hx[i, j, k] += c * ((ey[i, j, k+1] - ey[i, j, k]) - (ez[i, j+1, k] - ez[i, j, k]))
            @comp HY hy[i, j, k] += c * ((ez[i+1, j, k] - ez[i, j, k]) - (ex[i, j, k+1] - ex[i, j, k]))
            @comp HZ hz[i, j, k] += c * ((ex[i, j+1, k] - ex[i, j, k]) - (ey[i+1, j, k] - ey[i, j, k]))
        end
    end
end
