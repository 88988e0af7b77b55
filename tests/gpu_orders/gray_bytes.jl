# Bytes: threads have sixteen neighbouring points, and load and store vectors.
#! sizes gray=m,n image=m,n,3
#! run m=0 n=2
#! run m=1 n=9
#! run m=16 n=8
#! run m=47 n=3
#! run m=512 n=8
#! run m=1027 n=9
using Tessella

@tessella function gray_bytes!(gray::Matrix{UInt8}, image::Array{UInt8,3})
    m, n = size(gray)
    for j in 1:n, i in 1:m
        gray[i, j] = (77image[i, j, 1] + 150image[i, j, 2] + 29image[i, j, 3]) >> 8 % UInt8
    end
end
