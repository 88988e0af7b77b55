# One byte of every fourth pixel of every second row, beside the brightness of each.
#! sizes image=m,n,2 bright=m,n few=mh,nh
#! run m=0 n=0 mh=0 nh=0
#! run m=5 n=3 mh=1 nh=1
#! run m=35 n=40 mh=8 nh=20
#! run m=517 n=19 mh=129 nh=9
using Tessella

@tessella function two_grids_four!(bright::Matrix{UInt8}, few::Matrix{UInt8}, image::Array{UInt8,3})
    m, n = size(bright)
    for j in 1:n, i in 1:m
        bright[i, j] = ((77Int32(image[i, j, 1]) + 150Int32(image[i, j, 2])) >> 8) % UInt8
    end
    for j in 1:n÷2, i in 1:m÷4
        few[i, j] = image[4i, 2j, 2]
    end
end
