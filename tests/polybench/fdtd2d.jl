# Maxwell's equations in the plane, in finite differences of time: two electric fields and a magnetic one
using Tessella

@tessella function kernel_fdtd2d!(ex, ey, hz, source)
    nx, ny = size(hz)
    for t in 1:length(source)
        for j in 1:ny
            ey[1, j] = source[t]
        end
        for j in 1:ny, i in 2:nx
            ey[i, j] -= 0.5 * (hz[i, j] - hz[i-1, j])
        end
        for j in 2:ny, i in 1:nx
            ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j-1])
        end
        for j in 1:ny-1, i in 1:nx-1
            hz[i, j] -= 0.7 * (ex[i, j+1] - ex[i, j] + ey[i+1, j] - ey[i, j])
        end
    end
end

function fdtd2d_inputs(::Type{T}, steps, nx, ny) where {T}
    ex = T[(i - 1) * j / nx for i in 1:nx, j in 1:ny]
    ey = T[(i - 1) * (j + 1) / ny for i in 1:nx, j in 1:ny]
    hz = T[(i - 1) * (j + 2) / nx for i in 1:nx, j in 1:ny]
    return ex, ey, hz, T[t - 1 for t in 1:steps]
end
