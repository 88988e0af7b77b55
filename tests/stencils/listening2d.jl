# Sound in a plane, in place, from a source in the middle, and what a receiver hears of it: where it stands is an argument.
#! with space((X, P), t, (j, i), (8, 8))
#! with overlapped(X, t, (j, i), 2, (8, 8))
#! gpu overlapped(X, t, (j, i), 2, (8, 8))
#! gpu stream(X, t, 3, 2, 16)
#! gpu grid_sync(X, t, 2, 2, 12)
#! run m=4 n=5 steps=1 ri=1 rj=5
#! run m=19 n=23 steps=5 ri=9 rj=16
#! run m=21 n=18 steps=6 ri=21 rj=1
#! own m=9 n=103 steps=17 ri=3 rj=44
@tessella function listening2d!(p::Matrix{Float32}, vx::Matrix{Float32}, vy::Matrix{Float32}, c::Matrix{Float32}, hum::Vector{Float32},
                                heard::Vector{Float32}, ri::Int, rj::Int)
    m, n = size(p)
    steps = length(hum)
    for t in 1:steps
        for j in 1:n, i in 1:m-1
            @comp X vx[i, j] -= 0.5f0 * (p[i+1, j] - p[i, j])
        end
        for j in 1:n-1, i in 1:m
            vy[i, j] -= 0.5f0 * (p[i, j+1] - p[i, j])
        end
        for j in 2:n-1, i in 2:m-1
            @comp P p[i, j] -= c[i, j] * (vx[i, j] - vx[i-1, j] + vy[i, j] - vy[i, j-1])
        end
        p[m ÷ 2, n ÷ 2] += hum[t]
        heard[t] = p[ri, rj]
    end
end
