# A histogram for each of a few channels: threads of all pixels count in one piece, not one thread for each channel.
#! sizes H=256,c img=m,n,c
#! run m=1 n=1 c=1
#! run m=0 n=3 c=2
#! run m=35 n=11 c=3
using Tessella

@tessella function channels_counted!(H::Matrix{Int64}, img::Array{UInt8,3})
    for c in axes(img, 3), j in axes(img, 2), i in axes(img, 1)
        H[img[i, j, c] + 1, c] += 1
    end
    return nothing
end
