const CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
const CY = (0, 0, 1, 0, -1, 1, 1, 1, -1, -1)
function stream!(g, f)
    nx, ny = size(f, 1), size(f, 2)
    for q in 1:9
        for j in 1:ny, i in 1:nx
            g[mod1(i + CX[q], nx), mod1(j + CY[q], ny), q] = f[i, j, q]
        end
    end
end
