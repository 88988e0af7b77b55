# All cells of a grid that is kept in a vector, up to a product of sizes: an iteration of the vector's own range each.
using Tessella

@tessella function all_cells!(v::Vector{Float64}, u::Vector{Float64}, nx::Int, ny::Int)
    for k in nx+1:nx*(ny-1)
        v[k] = u[k-1] + u[k+1] + u[k-nx] + u[k+nx] - 4.0 * u[k]
    end
end
#! sizes v=k u=k nx=nx ny=ny
#! run k=9 nx=3 ny=3
#! run k=2000 nx=40 ny=50
#! run k=2100 nx=40 ny=50
