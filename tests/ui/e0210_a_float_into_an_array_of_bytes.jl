@tessella function luminance!(gray::Matrix{UInt8}, rgb::Array{UInt8,3})
    m, n = size(gray)
    for j in 1:n, i in 1:m
        gray[i, j] = 0.299 * rgb[1, i, j] + 0.587 * rgb[2, i, j] + 0.114 * rgb[3, i, j]
    end
end
