# Brightness for each pixel, and a colour for each square of four, the mean of theirs: one kernel loads the picture once.
#! sizes image=m,n,2 bright=m,n colour=mh,nh
#! run m=0 n=0 mh=0 nh=0
#! run m=1 n=2 mh=0 nh=1
#! run m=33 n=40 mh=16 nh=20
#! run m=519 n=19 mh=259 nh=9
using Tessella

@tessella function two_grids!(bright::Matrix{UInt8}, colour::Matrix{UInt8}, image::Array{UInt8,3})
    m, n = size(bright)
    for j in 1:n÷2, i in 1:m÷2
        four = Int32(image[2i-1, 2j-1, 2]) + Int32(image[2i, 2j-1, 2]) + Int32(image[2i-1, 2j, 2]) + Int32(image[2i, 2j, 2])
        colour[i, j] = (four >> 2) % UInt8
    end
    for j in 1:n, i in 1:m
        bright[i, j] = ((77Int32(image[i, j, 1]) + 150Int32(image[i, j, 2])) >> 8) % UInt8
    end
end
