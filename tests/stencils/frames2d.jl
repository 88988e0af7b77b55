# Steps inside of another loop: a picture after each few of them.
#! with hexagonal(S, t, (j, i), 3, (5, 8))
#! with time_skew(S, t, (j, i), 2, (8, 8))
#! with space((S, R), t, (j, i), (8, 8))
#! gpu stream(S, t, 4, 2)
#! gpu stream(S, t, 3, 4, 16)
#! gpu grid_sync(S, t, 2)
#! gpu hexagonal(S, t, 1, 2, 2, 32, 1)
#! refused E0550 overlapped(S, t, (j, i), 2, (8, 8))
#! run m=4 n=5 out_3=2 every=3
#! run m=1 n=1 out_3=1 every=1
#! run m=19 n=23 out_3=3 every=5
#! run m=33 n=31 out_3=2 every=8
#! run m=9 n=9 out_3=2 every=0
#! own m=65 n=20 out_3=2 every=11
@tessella function frames2d!(u::Matrix{Float64}, v::Matrix{Float64}, out::Array{Float64, 3}, c::Float64, every::Int)
    m, n = size(u)
    for f in 1:size(out, 3)
        for t in 1:every
            for j in 2:n-1, i in 2:m-1
                @comp S v[i, j] = u[i, j] + c * (u[i+1, j] + u[i-1, j] + u[i, j+1] + u[i, j-1] - 4u[i, j])
            end
            for j in 2:n-1, i in 2:m-1
                @comp R u[i, j] = v[i, j]
            end
        end
        for j in 1:n, i in 1:m
            out[i, j, f] = u[i, j]
        end
    end
end
