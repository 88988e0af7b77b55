const NINE_X = (0, 1, 0, -1, 0, 1, -1, -1, 1)
const NINE_Y = (0, 0, 1, 0, -3, 1, 1, -1, -1)
function periodic_pushes!(g, f)
    m, n = size(f, 1), size(f, 2)
    for q in axes(f, 3), j in 1:n, i in 1:m
        g[mod1(i + NINE_X[q], m), mod1(j + NINE_Y[q], n), q] = f[i, j, q]
    end
end
