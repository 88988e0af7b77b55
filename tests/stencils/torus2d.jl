# Heat on a torus: beside the first row lies the last one. What is written aside may be larger.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 4, 4)
#! gpu stream(S, t, 1, 4, 5)
#! refused E0490 grid_sync(S, t, 1, 2, 3)
#! refused E0490 hexagonal(S, t, 1, 2, 2, 32, 1)
#! run m=4 n=5 B_1=4 B_2=5 steps=1
#! run m=1 n=1 B_1=1 B_2=1 steps=3
#! run m=2 n=3 B_1=2 B_2=3 steps=5
#! run m=0 n=3 B_1=0 B_2=3 steps=2
#! run m=3 n=0 B_1=3 B_2=0 steps=2
#! run m=37 n=23 B_1=40 B_2=29 steps=9
#! run m=128 n=9 B_1=128 B_2=9 steps=4
#! own m=9 n=203 B_1=12 B_2=203 steps=37
#! own m=133 n=5 B_1=133 B_2=5 steps=37
@tessella function torus2d!(A::Matrix{Float32}, B::Matrix{Float32}, steps::Int)
    m, n = size(A)
    for t in 1:steps
        for j in 1:n, i in 1:m
            @comp S B[i, j] = A[i, j] + 0.1f0 * (A[mod1(i - 1, m), j] + A[mod1(i + 1, m), j] + A[i, mod1(j - 1, n)] +
                                                 A[i, mod1(j + 1, n)] - 4 * A[i, j])
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end
