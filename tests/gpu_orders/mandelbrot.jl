# Points that end early, each in a thread of its own along both axes, and its variables in registers.
#! sizes out=m,n x0=12 y0=8 d=1
#! run m=1 n=1
#! run m=0 n=3
#! run m=33 n=9
#! run m=40 n=5
using Tessella

@tessella function mandelbrot!(out::Matrix{Int32}, x0::Float64, y0::Float64, d::Float64)
    m, n = size(out)
    for j in 1:n, i in 1:m
        cr = d * (i - 1) - x0
        ci = d * (j - 1) - y0
        zr = 0.0
        zi = 0.0
        k = Int32(0)
        while k < Int32(20) && zr * zr + zi * zi <= 4.0
            t = zr * zr - zi * zi + cr
            zi = 2.0 * zr * zi + ci
            zr = t
            k += Int32(1)
        end
        out[i, j] = k
    end
    return nothing
end
