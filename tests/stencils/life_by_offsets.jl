# The game of life on a torus, with loops over the neighbours, as it comes to mind.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=2 n=3 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function life_by_offsets!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            alive = 0
            for dj in -1:1
                for di in -1:1
                    di == 0 && dj == 0 && continue
                    x = mod1(i + di, m)
                    alive += A[x, mod1(j + dj, n)]
                end
            end
            @comp S B[i, j] = alive == 3 || (alive == 2 && A[i, j] == 1) ? 1 : 0
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end
