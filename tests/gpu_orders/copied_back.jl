# Steps that are copied back by broadcasts, and an edge by a slice, of arrays whose sizes nothing relates: conditions of the broadcasts are many, and the steps stream all the same.
#! sizes h=m,n hn=m,n u=m,n un=m,n v=m,n vn=m,n steps=t
#! run m=3 n=3 t=1
#! run m=4 n=1 t=0
#! run m=37 n=23 t=3
#! run m=70 n=41 t=20
using Tessella

@tessella function copied_back!(h::Matrix{Float64}, hn::Matrix{Float64}, u::Matrix{Float64}, un::Matrix{Float64}, v::Matrix{Float64},
                                vn::Matrix{Float64}, steps::Int)
    m, n = size(h)
    for s in 1:steps
        for j in 2:n-1, i in 2:m-1
            hn[i, j] = h[i+1, j] - u[i, j]
            un[i, j] = u[i, j-1] - h[i, j]
            vn[i, j] = v[i-1, j] - h[i, j]
        end
        hn[1, :] .= hn[2, :]
        h .= hn
        u .= un
        v .= vn
    end
    return nothing
end
