# Every second row of a picture is coarser along one axis only, and begins in the middle.
#! sizes sums=m,n half=m,nh picture=m,n
#! run m=3 n=2 nh=1
#! run m=34 n=41 nh=20
#! run m=70 n=30 nh=15
using Tessella

@tessella function two_grids_rows!(sums::Matrix{Float32}, half::Matrix{Float32}, picture::Matrix{Float32})
    m, n = size(sums)
    for j in 2:n-1, i in 2:m-1
        sums[i, j] = 0.25f0 * picture[i-1, j] + 0.5f0 * picture[i, j] + 0.25f0 * picture[i+1, j]
    end
    for j in 2:n÷2, i in 2:m-1
        half[i, j] = 0.5f0 * (picture[i, 2j] + picture[i, 2j-1])
    end
end
