# A grid that is kept in a vector runs in tiles of time, as a matrix does.
using Tessella

@tessella function grid_in_vector!(u::Vector{Float64}, v::Vector{Float64}, nx::Int, ny::Int, steps::Int)
    for t in 1:steps
        for j in 2:ny-1, i in 2:nx-1
            k = (j - 1) * nx + i
            v[k] = 0.25 * (u[k-1] + u[k+1] + u[k-nx] + u[k+nx])
        end
        for j in 2:ny-1, i in 2:nx-1
            u[(j-1)*nx+i] = v[(j-1)*nx+i]
        end
    end
end
