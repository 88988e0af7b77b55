# Diffusion between neighbours that a tuple of offsets names, where there are any: nothing flows over the edge.
#! with space(S, t, (j, i), (8, 8))
#! with hexagonal(S, t, (j, i), 1, (4, 8))
#! with overlapped(S, t, (j, i), 2, (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=2 n=2 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function offsets2d!(A::Matrix{Float32}, B::Matrix{Float32}, c::Float32, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            flow = 0f0
            for (di, dj) in ((-1, 0), (1, 0), (0, -1), (0, 1))
                x, y = i + di, j + dj
                (x < 1 || x > m || y < 1 || y > n) && continue
                flow += A[x, y] - A[i, j]
            end
            @comp S B[i, j] = A[i, j] + c * flow
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end
