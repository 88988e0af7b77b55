@tessella function dim!(image::Matrix{UInt8})
    for j in axes(image, 2), i in axes(image, 1)
        image[i, j] = 0.5 * image[i, j]
    end
end

#: title A float into an image of bytes
#: why Julia converts at the store, and raises `InexactError` unless the value is a whole number between 0 and 255.
#: fix Say what to do with the fraction: `round(UInt8, 0.5 * image[i, j])`.
