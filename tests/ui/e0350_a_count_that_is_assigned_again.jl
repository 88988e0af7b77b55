function weights(sigma::Float64, wide::Bool)
    r = ceil(Int, 3sigma)
    if wide
        r = ceil(Int, 5sigma)
    end
    w = zeros(2r + 1)
    for k in 1:2r+1
        w[k] = k - r
    end
    return w
end
