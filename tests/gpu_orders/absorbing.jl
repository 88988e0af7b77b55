# A wave with absorbing edges over three arrays that change places: too much to reorder, so nests keep their loops, each in a kernel.
#! sizes p2=m,n p1=m,n p0=m,n vel=m,n steps=t
#! run m=2 n=2 t=1
#! run m=3 n=4 t=0
#! run m=35 n=10 t=4
using Tessella

@tessella function absorbing!(p2::Matrix{Float64}, p1::Matrix{Float64}, p0::Matrix{Float64}, vel::Matrix{Float64}, steps::Int)
    nz, nx = size(p1)
    for it in 1:steps
        for ix in 2:nx-1, iz in 2:nz-1
            p2[iz, ix] = 2p1[iz, ix] - p0[iz, ix] + vel[iz, ix] * (p1[iz-1, ix] + p1[iz+1, ix] - 4p1[iz, ix] + p1[iz, ix-1] + p1[iz, ix+1])
        end
        for iz in 1:nz
            c = vel[iz, 1]
            p2[iz, 1] = p1[iz, 1] + c * p1[iz, 2]
            p2[iz, nx] = p1[iz, nx] - c * p1[iz, nx-1]
        end
        for ix in 1:nx
            p2[nz, ix] = p1[nz, ix] - vel[nz, ix] * p1[nz-1, ix]
        end
        p0, p1, p2 = p1, p2, p0
    end
    return nothing
end
