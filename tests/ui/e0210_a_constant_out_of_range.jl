@tessella function white!(image::Matrix{UInt8})
    for j in axes(image, 2), i in axes(image, 1)
        image[i, j] = 256
    end
end
