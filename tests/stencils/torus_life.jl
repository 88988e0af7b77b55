# The game of life on a torus: eight neighbours, whole numbers.
#! with space(S, t, (j, i), (8, 8))
#! gpu stream(S, t, 2, 2, 16)
#! gpu stream(S, t, 4, 4)
#! run m=4 n=5 steps=2
#! run m=1 n=1 steps=1
#! run m=2 n=2 steps=3
#! run m=33 n=31 steps=5
#! own m=65 n=20 steps=11
@tessella function torus_life!(A::Matrix{Int32}, B::Matrix{Int32}, steps::Int)
    m, n = size(A)
    @assert size(B) == (m, n)
    for t in 1:steps
        for j in 1:n, i in 1:m
            up, down = mod1(i - 1, m), mod1(i + 1, m)
            left, right = mod1(j - 1, n), mod1(j + 1, n)
            around = (A[up, left] + A[i, left] + A[down, left] + A[up, j] + A[down, j] + A[up, right] + A[i, right] + A[down, right])
            @comp S B[i, j] = around == 3 || (around == 2 && A[i, j] == 1) ? Int32(1) : Int32(0)
        end
        for j in 1:n, i in 1:m
            @comp R A[i, j] = B[i, j]
        end
    end
    return nothing
end
