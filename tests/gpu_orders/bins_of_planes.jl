# The same for an image, with bins for each of its channels, of which blocks have those of one: a square of values and their neighbours' below.
#! sizes H=9,9,c img=m,n,c
#! run m=3300 n=2 c=2
#! run m=3 n=5 c=1
using Tessella

@tessella function bins_of_planes!(H::Array{Int32,3}, img::Array{Float32,3})
    for c in axes(img, 3), j in axes(img, 2), i in 1:size(img, 1)-1
        a = min(max(trunc(Int, img[i, j, c] * 3) + 4, 1), 9)
        b = min(max(trunc(Int, img[i+1, j, c] * 2) + 4, 1), 9)
        H[a, b, c] += Int32(1)
    end
    return nothing
end
