# Heat in an insulated plane, as it comes to mind: each step begins with a copy of the field, and ends with edges, slice by slice.
#! with space(R, t, (j, i), (4, 8))
#! with time_skew(R, t, (j, i), 1, (8, 8))
#! with overlapped(R, t, (j, i), 2, (8, 8))
#! gpu stream(R, t, 2, 2, 16)
#! gpu stream(R, t, 3, 4)
#! gpu grid_sync(R, t, 1, 2, 3)
#! run m=13 n=17 steps=5
#! run m=6 n=9 steps=1
#! run m=9 n=6 steps=2
#! own m=133 n=217 steps=11
@tessella function edges_by_slices2d!(u::Matrix{Float32}, c::Float32, steps::Int)
    m, n = size(u)
    for t in 1:steps
        un = copy(u)
        for j in 2:n-1, i in 2:m-1
            @comp R u[i, j] = un[i, j] + c * (un[i-1, j] + un[i+1, j] + un[i, j-1] + un[i, j+1] - 4f0 * un[i, j])
        end
        u[1, :] .= u[2, :]
        u[m, :] .= u[m-1, :]
        u[:, 1] .= u[:, 2]
        u[:, n] .= u[:, n-1]
    end
end
