# A grid that is kept in a vector: subscripts that count through rows tell iterations apart as those of a matrix do.
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
#! sizes u=k v=k nx=nx ny=ny steps=steps
#! run k=0 nx=1 ny=1 steps=3
#! run k=9 nx=3 ny=3 steps=2
#! run k=80 nx=8 ny=10 steps=3
#! run k=81 nx=8 ny=10 steps=2
